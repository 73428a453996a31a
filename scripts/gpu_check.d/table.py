"""Lines of gpu_check's output: of series, peers, the cost of telemetry."""


def scaled(value, unit):
    if value is None:
        return "-"
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def name_of(result):
    keys = ("dtype", "m", "n", "k", "values", "searched", "kernel", "stores", "route", "memory", "kind", "wait", "op", "size_bytes")
    params = [f"{result['params'][key]}" for key in keys if key in result["params"]]
    return " ".join([result["case"], result["metric"] or "", *params])


def held(result):
    """GPU clock and power during the series, and the share of the peak at that clock."""
    words = []
    if result.get("of_limit_at_clock"):
        words.append(f"{100 * result['of_limit_at_clock']:.1f} % at the clock held")
    for gpu in (result.get("telemetry") or {}).get("gpus", []):
        if gpu["sm_clock_hz"]["mean"]:
            words.append(f"{gpu['sm_clock_hz']['mean'] / 1e9:.3f} GHz")
        if gpu["power_w"]["mean"]:
            words.append(f"{gpu['power_w']['mean']:.0f} W of {gpu['power_limit_w'] or 0:.0f}")
        cap = gpu["reasons"].get("sw_power_cap")
        if cap:
            words.append(f"power cap {100 * cap:.0f} % of the time")
    return "  " + ", ".join(words) if words else ""


def print_results(results):
    for r in results:
        if r["outcome"] == "skipped":
            print(f"{name_of(r):76} skipped: {r['reason']}")
        elif r["metric"]:
            share = f"{100 * r['of_limit']:.1f} %" if r["of_limit"] else ""
            print(f"{name_of(r):76} {scaled(r['median'], r['unit']):>16} {share:>8} {r['outcome']}{held(r)}")


def print_peers(rows, missing):
    for row in rows:
        ratio = f"{row['ratio']:.3f}" if row["ratio"] else "-"
        aim = f" (aim: {row['aim']}; its best shape is {'x'.join(map(str, row['shape']))})" if "aim" in row else ""
        print(f"{row['metric']} {row['params']} of {', '.join(row['cases'])}: {ratio} x {row['peer']}{aim}")
    for peer, why in missing.items():
        print(f"not compared with {peer}: {why}")


def print_overhead(overhead):
    for one in overhead["series"] if overhead else []:
        known = one["low"] is not None
        span = f" [{100 * one['low']:+.2f}, {100 * one['high']:+.2f}]" if known else ""
        print(f"telemetry costs {100 * one['overhead']:+.2f} %{span} of {one['params']}: {one['verdict']} 0.5 %")


def not_shown(skipped_or_not):
    """{reason: [series]} that this machine cannot show, such as peer copies on a single GPU."""
    reasons = {}
    for r in skipped_or_not:
        if r["outcome"] == "skipped" and not (r["reason"] or "").startswith("interrupted"):
            reasons.setdefault(r["reason"], []).append(name_of(r).strip())
    return {why: sorted(set(names)) for why, names in reasons.items()}


def print_lines(titled):
    for title, lines in titled.items():
        for line in lines:
            print(f"{title}: {line}")
