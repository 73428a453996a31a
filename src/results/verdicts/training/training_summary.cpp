#include "results/verdicts/training/training_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

// Summary lines of a group, shared by text and page.

std::string time_text(const TrainingGroup& group) {
  if (!group.setup.to_target()) return "";
  const OlympicMean& time = group.time;
  if (!std::isfinite(time.mean)) return "none: " + mean_words(group);
  return format(time.mean, Unit::second) + interval_text(time.low, time.high, Unit::second) + ", " +
         mean_words(group);
}

std::string spread_text(const Variation& variation) {
  if (!std::isfinite(variation.cv)) return "";
  std::string text = fmt::format("{:.1f} %", 100.0 * variation.cv);
  if (std::isfinite(variation.low))
    text +=
        fmt::format(" [{:.1f}, {}]", 100.0 * variation.low,
                    std::isfinite(variation.high) ? fmt::format("{:.1f}", 100.0 * variation.high)
                                                  : "unbounded");
  return text;
}

std::string spreads_text(const TrainingGroup& group) {
  const std::string samples = spread_text(group.samples), seconds = spread_text(group.seconds);
  if (samples.empty()) return "";
  return fmt::format(
      "samples to target {}, time to target {} (CV over {} converged runs, 95 % confidence "
      "interval)",
      samples, seconds, group.samples.n);
}

std::string needed_text(const Variation& seconds) {
  if (!std::isfinite(seconds.runs_needed)) return "";
  const std::string most = std::isfinite(seconds.runs_needed_high)
                               ? fmt::format("{:.0f}", seconds.runs_needed_high)
                               : "unbounded";
  return fmt::format(
      "{:.0f} (95 % confidence interval {:.0f} to {}) for a standard error of {:.1f} % of the mean",
      seconds.runs_needed, seconds.runs_needed_low, most, 100.0 * kGoodStandardError);
}

std::string throughput_text(const TrainingGroup& group) {
  if (!std::isfinite(group.items_per_second)) return "";
  std::string text = rate_text(group.items_per_second, group);
  if (std::isfinite(group.items_low))
    text += fmt::format(" [{}, {}] ({})", rate_number(group.items_low),
                        rate_number(group.items_high), group.items_interval);
  if (group.setup.ranks > 1)
    text += ", " +
            rate_text(group.items_per_second / static_cast<double>(group.setup.ranks), group) +
            " per rank";
  return text;
}

std::string mfu_text(const TrainingGroup& group) {
  std::string text = std::isfinite(group.mfu) ? format(group.mfu, Unit::ratio) : "unknown";
  const std::string peak = peak_words(group);
  text += peak.empty() ? ", peak unknown" : " of " + peak;
  const bool is_measured =
      text_field(object_field(group.facts, "peak_flops"), "kind") == "measured";
  if (std::isfinite(group.mfu) && is_measured) return text;
  if (std::isfinite(of_gemm(group)))
    return text + fmt::format("; {} of {} measured by {}", format(of_gemm(group), Unit::ratio),
                              format(group.gemm.flops, Unit::flop_per_second), group.gemm.source);
  return group.gemm.source.empty() ? text : text + "; no GEMM measured: " + group.gemm.source;
}

std::string straggler_text(const TrainingGroup& group) {
  if (group.setup.ranks < 2 || !std::isfinite(group.straggler_spread)) return "";
  return fmt::format("the slowest rank computes {:.1f} % longer than the mean",
                     100.0 * group.straggler_spread);
}

/// Reference value of the gap, and source of the target.
std::string floor_text(const TrainingGroup& group) {
  const double floor = number_field(group.facts, "floor");
  if (!std::isfinite(floor)) return "";
  if (text_field(group.facts, "floor_kind") == "bound")
    return fmt::format("{:.5g}, a lower bound; the best attainable value on these data is unknown",
                       floor);
  std::string text = fmt::format("{:.5g}, the best attainable value", floor);
  const std::string source = text_field(group.facts, "target_source");
  return source.empty() ? text : text + "; target " + source;
}

/// Size of a finite data set; "" if every sample is new.
std::string data_text(const TrainingGroup& group) {
  const Json& data = object_field(group.facts, "data");
  const double samples = number_field(data, "samples");
  if (!(samples > 0.0)) return "";
  std::string text = rate_number(samples) + " samples";
  const Json& files = array_field(data, "files");
  if (!files.empty() && files[0].is_string()) {
    text += " from " + files[0].get<std::string>();
    if (files.size() > 1) text += fmt::format(" and {} more", files.size() - 1);
  }
  const double epochs = number_field(group.facts, "epochs");
  if (std::isfinite(epochs)) text += fmt::format(", {:.3g} epochs", epochs);
  return text;
}

std::string energy_text(const TrainingGroup& group) {
  if (!std::isfinite(group.energy_j))
    return group.energy_of.empty() ? "" : "unknown: " + group.energy_of;
  return fmt::format("{:.4g} J per run ({})", group.energy_j, group.energy_of);
}

}  // namespace

namespace {

std::string counted(std::int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one,
                     count == 1                              ? ""
                     : std::string_view(one).ends_with("ch") ? "es"
                                                             : "s");
}

/// What the search for the largest batch found.
std::string largest_batch_text(const TrainingGroup& group) {
  const Json& need = object_field(group.facts, "memory_need");
  const Json& asked = field(need, "largest_batch");
  if (!asked.is_boolean() || !asked.get<bool>()) return "";
  return fmt::format("{} samples, {} per thread at once: needs {} of {} per rank by the plan",
                     group.setup.batch, integer_field(group.facts, "micro_batch"),
                     format(Bytes{number_field(need, "bytes")}),
                     format(Bytes{number_field(need, "available")}));
}

/// Why a divided model was not compared with the whole one; "" if it was.
std::string not_compared_text(const TrainingGroup& group) {
  const std::string why = text_field(object_field(group.facts, "division"), "not_compared");
  return why.empty() ? "" : "the divided one was not compared with it: " + why;
}

/// What ranks exchange in place of whole gradients; "" if they exchange those.
std::string exchange_text(const TrainingGroup& group) {
  const Json& exchange = object_field(group.facts, "exchange");
  const double ratio = number_field(exchange, "bytes_ratio");
  if (!std::isfinite(ratio)) return "";
  return fmt::format("{}: {} per rank and step, {:.3g} % of the gradient",
                     text_field(exchange, "setting"),
                     format(Bytes{number_field(group.facts, "exchange_bytes")}), 100.0 * ratio);
}

/// Optimizer state in files, and how long steps wait for it; "" if it is in memory.
std::string offload_text(const TrainingGroup& group) {
  const Json& offload = object_field(group.facts, "offload");
  const double moved = number_field(offload, "moved_bytes");
  const double moving = number_field(offload, "moving_seconds");
  const double all = number_field(group.facts, "run_seconds");
  if (!(moved > 0.0) || !(moving > 0.0) || !(all > 0.0)) return "";
  const bool direct = field(offload, "direct") == Json(true);
  const double ranks = static_cast<double>(group.setup.ranks);
  return fmt::format(
      "{} of optimizer state in {} ({}{}), moved at {} per rank; {:.3g} % of the time waits for "
      "it, {:.3g} % expected at this rate",
      format(Bytes{number_field(offload, "bytes")}), group.setup.ranks == 1 ? "a file" : "files",
      text_field(offload, "file_system", "unknown file system"),
      direct ? "" : ", through the page cache",
      format(moved / ranks / moving, Unit::byte_per_second),
      100.0 * number_field(offload, "wait_seconds") / all,
      100.0 * number_field(offload, "expected_wait_seconds") / all);
}

std::string bubble_text(const TrainingGroup& group) {
  const Json& division = object_field(group.facts, "division");
  const double bubble = number_field(division, "bubble");
  if (!std::isfinite(bubble)) return "";
  const std::int64_t chunks = integer_field(division, "vp", 1);
  return fmt::format("{:.3g} % of the passes; {:.3g} % if all stages took equally long ({}{}, {})",
                     100.0 * bubble, 100.0 * number_field(division, "ideal_bubble"),
                     text_field(division, "schedule"),
                     chunks > 1 ? fmt::format(" of {} chunks", chunks) : "",
                     counted(integer_field(group.facts, "micro_batches"), "micro-batch"));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> group_lines(const TrainingGroup& group) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"time to train", time_text(group)},
      {"floor", floor_text(group)},
      {"data", data_text(group)},
      {"spread", spreads_text(group)},
      {"runs needed", needed_text(group.seconds)},
      {"largest batch", largest_batch_text(group)},
      {"throughput", throughput_text(group)},
      {"MFU", mfu_text(group)},
      {"straggler", straggler_text(group)},
      {"exchange", exchange_text(group)},
      {"offload", offload_text(group)},
      {"pipeline bubble", bubble_text(group)},
      {"whole model", not_compared_text(group)},
      {"energy", energy_text(group)}};
  std::erase_if(lines, [](const auto& line) { return line.second.empty(); });
  return lines;
}

std::string note_of(const TrainingReport& report) {
  if (report.groups.empty() && !report.diagnosed.empty())
    return "Steps of loader and checkpoint probes are emulated: this is not an MLPerf result.";
  const bool any = std::ranges::any_of(report.groups, is_external);
  const bool files = std::ranges::any_of(report.groups, on_files);
  std::vector<std::string> notes;
  const auto is_other = [](const TrainingGroup& group) {
    return is_external(group) || on_files(group);
  };
  if (report.groups.empty() || !std::ranges::all_of(report.groups, is_other))
    notes.emplace_back(
        "benchctl workloads are twins of MLPerf workloads on synthetic data with a known best "
        "attainable quality: they are not MLPerf results and must not be compared with any.");
  const auto knows_best = [](const TrainingGroup& group) {
    return !on_files(group) || text_field(group.facts, "floor_kind") == "attainable";
  };
  if (files)
    notes.emplace_back(
        std::ranges::all_of(report.groups, knows_best)
            ? "Trainings on files are not MLPerf results either."
            : "Trainings on files have no known best quality and are not MLPerf results either.");
  if (any)
    notes.emplace_back(
        "External trainings are reported from their own logs and are not MLPerf results until "
        "reviewed by MLCommons.");
  return join(notes, " ");
}

std::string items_word(const TrainingGroup& group) {
  return text_field(group.facts, "item", "sample") + "s";
}

namespace {

/// "topk 0.01", "powersgd 4", "local 32", "local 32 rate 1 momentum 0"; "" if ranks exchange whole
/// gradients.
std::string exchange_words(const Json& params) {
  const std::string kind = text_field(params, "exchange");
  if (kind.empty() || kind == "full") return "";
  const char* const of_kind = kind == "topk"       ? "topk_share"
                              : kind == "powersgd" ? "powersgd_rank"
                                                   : "local_steps";
  const double value = number_field(params, of_kind);
  std::string words = std::isfinite(value) ? fmt::format("{} {}", kind, value) : kind;
  if (kind != "local") return words;
  for (const auto& [name, word, usual] :
       {std::tuple{"outer_rate", "rate", 0.7}, std::tuple{"outer_momentum", "momentum", 0.9}})
    if (const double other = number_field(params, name, usual); other != usual)
      words += fmt::format(" {} {}", word, other);
  return words;
}

constexpr std::int64_t kMostChunks = 1024;  // of the probe's schema

/// How the model is divided over the ranks, and what they exchange if not whole gradients: "tp 2,
/// cp 2, pp 2, dp 1, zero 1", "local 32"; "" if each has a whole one of its own.
std::string split_words(const TrainingSetup& setup) {
  const Json& params = setup.params;
  const auto degree = [&](const char* key, std::int64_t least, std::int64_t most) {
    return std::clamp(integer_field(params, key, least), least, most);
  };
  const std::int64_t tp = degree("tp", 1, setup.ranks), pp = degree("pp", 1, setup.ranks);
  const std::int64_t cp = degree("cp", 1, setup.ranks), zero = degree("zero", 0, 3);
  const std::int64_t ep = degree("ep", 1, setup.ranks);
  std::vector<std::string> words;
  if (tp > 1) words.push_back(fmt::format("tp {}", tp));
  const auto is = [&](const char* key, const Json& value) { return field(params, key) == value; };
  if (is("sequence_parallel", true)) words.emplace_back("sp");
  if (cp > 1) words.push_back(fmt::format("cp {}", cp));
  if (pp > 1) {
    const std::string schedule = text_field(params, "pipeline_schedule");
    const bool usual = schedule.empty() || schedule == "1f1b";
    words.push_back(fmt::format("pp {}{}", pp, usual ? "" : " " + schedule));
    if (const std::int64_t vp = degree("vp", 1, kMostChunks); vp > 1)
      words.push_back(fmt::format("vp {}", vp));
  }
  if (ep > 1) words.push_back(fmt::format("ep {}", ep));
  if (!words.empty() || zero > 0)
    words.push_back(fmt::format("dp {}", std::max<std::int64_t>(1, setup.ranks / (tp * cp * pp))));
  if (zero > 0) words.push_back(fmt::format("zero {}", zero));
  if (const std::string exchange = exchange_words(params); !exchange.empty())
    words.push_back(exchange);
  if (field(params, "offload").is_string()) words.emplace_back("offload");
  return join(words, ", ");
}

}  // namespace

std::string setup_words(const TrainingGroup& group) {
  const TrainingSetup& setup = group.setup;
  std::string text = fmt::format("{} {}, {}, {}, ", setup.workload, setup.preset, setup.dtype,
                                 setup.device == "host" ? "CPU" : setup.device);
  text += counted(setup.ranks, "rank");
  if (const std::string split = split_words(setup); !split.empty()) text += " (" + split + ")";
  if (setup.on.size() > 1) text += fmt::format(" on {} hosts", setup.on.size());
  if (setup.lanes > 0) text += " with " + counted(setup.lanes, "thread");
  if (setup.batch > 0) text += fmt::format(", batch {}", setup.batch);
  if (setup.steps > 0) return text + ", " + counted(setup.steps, "step");
  if (setup.sample_budget > 0) return text + ", " + counted(setup.sample_budget, "sample");
  if (std::isfinite(setup.target)) text += fmt::format(", target gap {:.4g}", setup.target);
  return text;
}

std::string resumed_words(const TrainingRun& run) {
  if (run.resumed_from <= 0) return "";
  return fmt::format("resumed from the checkpoint after step {}", run.resumed_from);
}

namespace {

/// Of the runs in the group: left out of its mean, or in it.
std::string resumed_note(const TrainingGroup& group) {
  if (group.resumed == 0) return "";
  const std::string runs = counted(static_cast<std::int64_t>(group.resumed), "resumed run");
  return group.resumed_counted ? "; includes " + runs
                               : "; " + runs + " left out, --include-resumed counts them";
}

std::string mean_words(const OlympicMean& time) {
  if (!std::isfinite(time.mean)) return time.why;
  std::string text =
      time.trimmed
          ? fmt::format("olympic mean of {} of {} runs, without the fastest and the slowest",
                        time.kept, time.runs)
          : fmt::format("plain mean of {}: an olympic mean needs three runs",
                        counted(static_cast<std::int64_t>(time.runs), "run"));
  if (time.without > 0) text += " (not converged)";
  if (!time.why.empty()) return text + "; " + time.why;
  return text + (time.trimmed ? "; 95 % confidence interval (Yuen's trimmed mean)"
                              : "; 95 % confidence interval (Student's t)");
}

}  // namespace

std::string mean_words(const TrainingGroup& group) {
  return mean_words(group.time) + (group.setup.to_target() ? resumed_note(group) : "");
}

std::string peak_words(const TrainingGroup& group) {
  const Json& peak = object_field(group.facts, "peak_flops");
  const double value = number_field(peak, "value");
  if (!(value > 0.0)) return "";
  return fmt::format("{} {}: {}", format(value, Unit::flop_per_second),
                     text_field(peak, "kind", "unknown kind"),
                     text_field(peak, "source", "unknown source"));
}

double of_gemm(const TrainingGroup& group) { return group.flops / group.gemm.flops; }

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "";
}

std::string value_text(double value, Unit unit) {
  return std::isfinite(value) ? format(value, unit) : "";
}

std::string interval_text(double low, double high, Unit unit) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  return fmt::format(" [{}, {}]", format(low, unit), format(high, unit));
}

std::string rate_number(double value) {
  if (!std::isfinite(value)) return "";
  if (std::abs(value) >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  if (std::abs(value) >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (std::abs(value) >= 1e3) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string rate_text(double value, const TrainingGroup& group) {
  const std::string number = rate_number(value);
  return number.empty() ? "" : number + " " + printable(items_word(group)) + "/s";
}

std::string efficiency_text(double value, double low, double high) {
  if (!std::isfinite(value)) return "";
  std::string text = fmt::format("{:.1f} %", 100.0 * value);
  if (std::isfinite(low) && std::isfinite(high))
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * low, 100.0 * high);
  return text;
}

std::string phase_words(const std::string& phase) {
  std::string text = printable(phase);
  std::ranges::replace(text, '_', ' ');
  return text;
}

namespace {

void add_figures(const TrainingGroup& group, std::vector<BandedFigure>& figures) {
  const std::string probe = is_external(group) ? "external." : "training.";
  for (const TrainingRun& run : group.runs) {
    if (!was_timed(run) || !run.clean) continue;
    const auto add = [&](const char* metric, double value, Better better, Json params) {
      if (std::isfinite(value))
        figures.push_back({setup_words(group),
                           {probe + metric, group.setup.device, group.setup.workload, params},
                           better,
                           value,
                           {value, value}});
    };
    for (const auto& [peak, mfu] : run.mfu) add("mfu", mfu, Better::higher, {{"peak", peak}});
    const Json none = Json::object();
    add("data_stall", run.shares.data_stall, Better::lower, none);
    if (group.setup.ranks > 1)
      add("exposed_communication", run.shares.exposed_communication, Better::lower, none);
    add("overlap_ratio", run.shares.overlap_ratio, Better::higher, none);
    add("goodput", run.shares.goodput, Better::higher, none);
  }
}

}  // namespace

std::vector<BandedFigure> banded_figures(const TrainingReport& report) {
  std::vector<BandedFigure> figures;
  for (const TrainingGroup& group : report.groups) add_figures(group, figures);
  for (const Scaling& scaling : report.scalings)
    for (const ScalingPoint& point : scaling.points) {
      if (point.ranks == scaling.base || !std::isfinite(point.efficiency)) continue;
      const TrainingGroup& group = report.groups[point.group];
      const bool has_interval = std::isfinite(point.low) && std::isfinite(point.high);
      figures.push_back(
          {setup_words(group),
           {is_external(group) ? "external.scaling_efficiency" : "training.scaling_efficiency",
            group.setup.device,
            group.setup.workload,
            {{"scaling", scaling.weak ? "weak" : "strong"}}},
           Better::higher,
           point.efficiency,
           has_interval ? Interval{point.low, point.high}
                        : Interval{point.efficiency, point.efficiency}});
    }
  return figures;
}

}  // namespace bench
