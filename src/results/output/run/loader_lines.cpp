#include "results/output/run/loader_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/json_fields.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr const char* kLoaderRate = "data_loader.samples_per_second";
constexpr const char* kNumaRatio = "data_loader.numa_ratio";

std::string rate_words(double value, const Json& facts) {
  return fmt::format("{} {}s/s", format(value, Unit::count), text_field(facts, "item", "sample"));
}

std::string share_words(double share) { return format(share, Unit::ratio); }

std::string limits_words(const Json& facts) {
  std::vector<std::string> parts;
  for (const Json& limit : array_field(facts, "limits"))
    if (const double rate = number_field(limit, "samples_per_second"); std::isfinite(rate))
      parts.push_back(text_field(limit, "limit", "?") + " " + rate_words(rate, facts));
  return join(parts, ", ");
}

/// Of the named limit; "" if missing.
std::string remedy_of(const Json& facts, const std::string& name) {
  for (const Json& limit : array_field(facts, "limits"))
    if (text_field(limit, "limit") == name) return text_field(limit, "remedy");
  return "";
}

std::string binding_words(const Json& facts) {
  const std::string binding = text_field(facts, "binding");
  if (binding.empty()) return "";
  std::string text = binding;
  const std::string runner_up = text_field(facts, "runner_up");
  const double gain = number_field(facts, "gain_until_runner_up");
  if (!runner_up.empty() && std::isfinite(gain))
    text += fmt::format("; {:.3g}x without this limit, then limited by {}", gain, runner_up);
  if (const std::string remedy = remedy_of(facts, binding); !remedy.empty())
    text += "; remedy: " + remedy;
  const std::string from_disk = text_field(facts, "binding_from_disk");
  if (!from_disk.empty() && from_disk != binding)
    text += fmt::format("; {} if the data do not fit in memory", from_disk);
  return text;
}

std::string workers_words(const Json& facts) {
  const double best = number_field(facts, "recommended_workers");
  if (!std::isfinite(best)) return "";
  std::vector<std::string> tried;
  for (const Json& point : array_field(facts, "sweep"))
    tried.push_back(fmt::format("{}: {}", integer_field(point, "num_workers"),
                                format(number_field(point, "samples_per_second"), Unit::count)));
  return fmt::format("{:.0f} recommended (fewest that reach 95 % of the peak); {}", best,
                     join(tried, ", ")) +
         (tried.empty() ? "" : fmt::format(" {}s/s", text_field(facts, "item", "sample")));
}

std::string step_words(const Json& step) {
  std::string text =
      fmt::format("{}: predicted data wait {}", format(Seconds{number_field(step, "step_s")}),
                  share_words(number_field(step, "predicted_stall")));
  if (const double stall = number_field(step, "stall"); std::isfinite(stall))
    text += fmt::format(", measured {}", share_words(stall));
  if (text_field(step, "verdict") == "inconclusive") text += " (inconclusive: host speed drifted)";
  return text;
}

std::string preset_words(const Json& preset) {
  const Json& passes = field(preset, "passes");
  return fmt::format(
      "{}: accelerator busy {} of the time (target {}: {}), {} workers needed",
      text_field(preset, "preset", "?"), share_words(number_field(preset, "use")),
      share_words(number_field(preset, "least_use")),
      passes.is_boolean() ? (passes.get<bool>() ? "met" : "missed") : "not evaluated",
      integer_field(preset, "workers_needed"));
}

std::string pytorch_words(const Json& facts) {
  const double factor = number_field(facts, "pytorch_factor");
  if (!std::isfinite(factor)) return "";
  return fmt::format(
      "{:.3g}x its {}s per CPU-second ({} vs. {}, measured by scripts/torch_loader.py)", factor,
      text_field(facts, "item", "sample"),
      format(number_field(facts, "samples_per_cpu_second"), Unit::count),
      format(number_field(facts, "pytorch_samples_per_cpu_second"), Unit::count));
}

/// Rate of one job with workers and batches on `node`; kNoValue if not measured.
double local_rate(const Rows& rows, const Series& remote, const Json& node) {
  for (const Result* row : rows) {
    const Series& series = row->series;
    if (series.metric == kLoaderRate && series.job == remote.job &&
        field(series.params, "cpu_node") == node && field(series.params, "memory_node") == node)
      return series.median;
  }
  return kNoValue;
}

void add_numa(FactList& list, const Rows& rows) {
  for (const Result* row : rows) {
    const Series& series = row->series;
    if (series.metric != kNumaRatio || !std::isfinite(series.median)) continue;
    const Json& node = field(series.params, "cpu_node");
    const double local = local_rate(rows, series, node);
    std::string text =
        fmt::format("workers on node {}, batches on node {}: {} of the local rate", dump(node),
                    dump(field(series.params, "memory_node")), share_words(series.median));
    if (std::isfinite(local))
      text += fmt::format(" ({} of {} samples/s)", format(series.median * local, Unit::count),
                          format(local, Unit::count));
    list.rows.emplace_back("NUMA", std::move(text));
  }
}

}  // namespace

FactList loader_lines(const Json& facts) {
  FactList list;
  const auto add = [&](const char* label, const std::string& words) {
    if (!words.empty()) list.rows.emplace_back(label, words);
  };
  add("limits", limits_words(facts));
  add("bottleneck", binding_words(facts));
  add("workers", workers_words(facts));
  add("PyTorch", pytorch_words(facts));
  for (const Json& step : array_field(facts, "steps")) add("step time", step_words(step));
  for (const Json& preset : array_field(facts, "presets")) add("preset", preset_words(preset));
  return list;
}

FactList loader_facts(const std::vector<std::pair<std::string, const Json*>>& jobs,
                      const Rows& rows) {
  FactList list;
  for (const auto& [job, facts] : jobs) {
    FactList own = loader_lines(*facts);
    if (jobs.size() > 1 && !own.rows.empty()) list.rows.emplace_back("job", job);
    std::ranges::move(own.rows, std::back_inserter(list.rows));
  }
  add_numa(list, rows);
  return list;
}

}  // namespace bench
