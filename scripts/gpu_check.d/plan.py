"""The steps of gpu_check in their order, in parts that each fit a lease of nine minutes."""

import typing


class Step(typing.NamedTuple):
    name: str
    part: str
    seconds: int  # at most
    what: str


STEPS = (
    Step("inventory", "basics", 40, "the GPU, its driver, clocks and power limit; versions and paths of libraries, ours and PyTorch's"),
    Step("smoke", "basics", 60, "suite gpu_faults: every series must be verified"),
    Step("faults", "basics", 60, "the same with damaged results (BENCH_FAULT=bit_flip): every verified series must become invalid; so must a burn one of whose GEMMs is"),
    Step("kernels", "basics", 60, "training kernels compared with the host's; five steps of llm tiny and dlrm tiny on both, twice"),
    Step("damage", "basics", 40, "the same kernels with one damaged element each, which must all be found"),
    Step("memcheck", "basics", 180, "compute-sanitizer memcheck of the kernels and of suite gpu_faults"),
    Step("collectives_gpu", "speed", 60, "suite collectives_gpu over all GPUs"),
    Step("training_gpu", "speed", 40, "suite training_gpu over all GPUs"),
    Step("gpu", "speed", 240, "suite gpu: every series must be verified"),
    Step("torch", "speed", 120, "PyTorch's GEMMs and copies"),
    Step("installed", "speed", 40, "nvbandwidth and nccl-tests' all_reduce_perf, if they are on the PATH"),
    Step("training", "training", 120, "GPT-2 124M and the shape of Llama-3.2-1B"),
    Step("torch_training", "training", 300, "the same in PyTorch, compiled"),
    Step("racecheck", "races", 240, "compute-sanitizer racecheck of attention, norms and sums"),
    Step("initcheck", "races", 240, "compute-sanitizer initcheck of the same kernels"),
    Step("telemetry", "telemetry", 240, "GEMM times with telemetry on and off, alternating"),
)
PARTS = tuple(dict.fromkeys(step.part for step in STEPS))
GATE = "basics"  # nothing after it runs where it fails


def chosen(names):
    """The steps named by step or part, in order; all for none. Raises ValueError for an unknown name."""
    known = {step.name for step in STEPS} | set(PARTS)
    for name in names or ():
        if name not in known:
            raise ValueError(f"there is no step or part {name}; they are listed by scripts/gpu_check --list")
    return [step for step in STEPS if not names or step.name in names or step.part in names]


def listed():
    rows = []
    for part in PARTS:
        of_part = [step for step in STEPS if step.part == part]
        rows.append(f"{part}: {sum(step.seconds for step in of_part)} s at most")
        rows += [f"  {step.name:16} {step.seconds:4} s  {step.what}" for step in of_part]
    return "\n".join(rows)
