#include "results/output/mlperf/progress_output.h"

#include <fmt/format.h>

#include "core/disclaimer.h"
#include "core/names.h"
#include "core/text.h"
#include "results/run/training_gauges.h"

namespace bench::mlperf {
namespace {

constexpr NameTable<RunPhase, 5> kPhases = {{{{RunPhase::waiting, "waiting"},
                                              {RunPhase::initialising, "initialising"},
                                              {RunPhase::initialised, "initialised"},
                                              {RunPhase::training, "training"},
                                              {RunPhase::stopped, "stopped"}}}};
constexpr NameTable<Pace, 4> kPaces = {{{{Pace::unknown, "unknown"},
                                         {Pace::too_fast, "too fast"},
                                         {Pace::scaled, "scaled"},
                                         {Pace::unscaled, "unscaled"}}}};

std::string_view unit_of(const RunGoal& goal) {
  return goal.progress == "epoch_num" ? "epochs" : "samples";
}

std::string init_text(const ProgressReport& report) {
  if (!report.init_minutes) return "initialisation not started";
  std::string text = fmt::format("initialisation {:.1f} min", *report.init_minutes);
  if (!report.init_left_minutes) return text + ", limit unknown until the division is logged";
  return text + (*report.init_left_minutes > 0.0
                     ? fmt::format(", {:.1f} min left", *report.init_left_minutes)
                     : fmt::format(", {:.1f} min over the limit", -*report.init_left_minutes));
}

std::string target_text(const ProgressReport& report) {
  if (!report.goal.target) return "unknown target: " + report.goal.why_no_target;
  if (*report.distance <= 0.0) return fmt::format("target {} reached", *report.goal.target);
  return fmt::format("{:.6g} from the target {}", *report.distance, *report.goal.target);
}

std::string quality_text(const ProgressReport& report) {
  if (!report.quality) return "no evaluation yet";
  return fmt::format("evaluation {}: {:.6g} after {:.12g} {}, {}", report.evaluations,
                     *report.quality, *report.progress, unit_of(report.goal), target_text(report));
}

std::string rate_text(const ProgressReport& report) {
  const EvaluationRate& rate = report.rate;
  if (!rate.last) return "";
  const std::string_view unit = unit_of(report.goal);
  std::string text = fmt::format("{:.4g} {}/s", *rate.last, unit);
  if (rate.slow_since)
    text += fmt::format(", slower since {:.12g} {}, usually {:.4g}", *rate.slow_since, unit,
                        rate.usual.value_or(*rate.last));
  return text;
}

std::string stats_text(const TrackedStats& stats) {
  std::vector<std::string> parts;
  if (stats.step) parts.push_back(fmt::format("step {:.12g}", *stats.step));
  if (stats.loss) parts.push_back(fmt::format("training loss {:.4g}", *stats.loss));
  if (stats.throughput)
    parts.push_back(fmt::format("throughput {:.4g} as logged", *stats.throughput));
  if (stats.step_seconds) parts.push_back(format(Seconds{*stats.step_seconds}) + " a step");
  return join(parts, ", ");
}

std::string projection_text(const ProgressReport& report) {
  if (report.projected_minutes)
    return fmt::format("projected: {:.12g} {}, {:.2f} min to train ({})",
                       *report.projection.progress, unit_of(report.goal), *report.projected_minutes,
                       kDerived);
  return report.projection.why_not.empty() ? "" : "no projection: " + report.projection.why_not;
}

std::string pace_text(const ProgressReport& report) {
  const RunGoal& goal = report.goal;
  if (!goal.reference_mean || !goal.reference_least)
    return goal.why_no_reference.empty() ? "" : "no reference: " + goal.why_no_reference;
  const std::string reference =
      fmt::format("reference {:.6g} {}, minimum {:.6g}", *goal.reference_mean, unit_of(goal),
                  *goal.reference_least);
  const std::string when = report.projected_minutes ? "then " : "";
  switch (report.pace) {
    case Pace::too_fast:
      return when + "below the minimum: a mean like this fails the convergence test (" + reference +
             ")";
    case Pace::scaled:
      return when + "faster than the reference: the score would be scaled (" + reference + ")";
    case Pace::unscaled:
      return when + "not faster than the reference (" + reference + ")";
    case Pace::unknown:
      break;
  }
  return reference;
}

/// NaN is printed as null.
Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::string to_line(const ProgressReport& report) {
  std::vector<std::string> parts;
  if (report.phase < RunPhase::training) parts.push_back(init_text(report));
  if (report.run_minutes) {
    parts.push_back(fmt::format("{:.2f} min", *report.run_minutes));
    if (report.projected_minutes)
      parts.back() += fmt::format(" of {:.2f} projected", *report.projected_minutes);
    if (report.quality && report.goal.target)
      parts.push_back(fmt::format("{:.4g} (target {:.4g})", *report.quality, *report.goal.target));
    else if (report.quality)
      parts.push_back(fmt::format("{:.4g}", *report.quality));
    for (std::string part : {rate_text(report), stats_text(report.stats)})
      if (!part.empty()) parts.push_back(std::move(part));
  }
  return fmt::format("{}: {}", kPhases.name(report.phase), join(parts, ", "));
}

std::string to_prometheus(const ProgressReport& report, const std::string& log) {
  TrainingGauges gauges;
  const GaugeLabels labels = {{"log", log}, {"benchmark", report.benchmark}};
  const auto add = [&](const char* name, std::optional<double> value) {
    gauges.add(name, labels, value);
  };
  const auto times = [](std::optional<double> value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
  };
  const bool in_samples = report.goal.progress != "epoch_num";
  add("running", report.phase == RunPhase::training ? 1.0 : 0.0);
  add("report_timestamp_seconds", times(report.last_line_ms, 1e-3));
  add("elapsed_seconds", times(report.run_minutes, 60.0));
  add("projected_seconds", times(report.projected_minutes, 60.0));
  add("step", report.stats.step);
  add("step_seconds", report.stats.step_seconds);
  add("loss", report.stats.loss);
  add("quality", report.quality);
  add("target_quality", report.goal.target);
  add(in_samples ? "samples" : "epochs", report.progress);
  add(in_samples ? "samples_per_second" : "epochs_per_second", report.rate.last);
  if (report.rate.last) add("slow", report.rate.slow_since ? 1.0 : 0.0);
  return gauges.text();
}

std::string to_text(const ProgressReport& report) {
  std::vector<std::string> parts;
  if (report.phase < RunPhase::training) parts.push_back(init_text(report));
  if (report.run_minutes) {
    parts.push_back(fmt::format("{:.2f} min of training", *report.run_minutes));
    for (std::string part : {quality_text(report), rate_text(report), stats_text(report.stats),
                             projection_text(report), pace_text(report)})
      if (!part.empty()) parts.push_back(std::move(part));
  }
  if (report.phase == RunPhase::stopped)
    parts.push_back("stopped: " + (report.status.empty() ? "no status" : printable(report.status)));
  if (report.invalid_lines > 0)
    parts.push_back(fmt::format("{} unreadable lines", report.invalid_lines));
  return fmt::format("{}: {}", kPhases.name(report.phase), join(parts, "; "));
}

Json to_json(const ProgressReport& report) {
  const RunGoal& goal = report.goal;
  return {{"phase", kPhases.name(report.phase)},
          {"benchmark", report.benchmark},
          {"division", report.division},
          {"init",
           {{"minutes", optional_json(report.init_minutes)},
            {"left_minutes", optional_json(report.init_left_minutes)}}},
          {"run_minutes", optional_json(report.run_minutes)},
          {"evaluations", report.evaluations},
          {"quality", optional_json(report.quality)},
          {"target", optional_json(goal.target)},
          {"progress", optional_json(report.progress)},
          {"unit", unit_of(goal)},
          {"distance", optional_json(report.distance)},
          {"rate",
           {{"last", optional_json(report.rate.last)},
            {"usual", optional_json(report.rate.usual)},
            {"slow_since", optional_json(report.rate.slow_since)}}},
          {"logged",
           {{"step", optional_json(report.stats.step)},
            {"loss", optional_json(report.stats.loss)},
            {"throughput", optional_json(report.stats.throughput)},
            {"step_seconds", optional_json(report.stats.step_seconds)}}},
          {"projection",
           {{"progress", optional_json(report.projection.progress)},
            {"minutes", optional_json(report.projected_minutes)},
            {"why_not", report.projection.why_not}}},
          {"rcp",
           {{"mean", optional_json(goal.reference_mean)},
            {"minimum", optional_json(goal.reference_least)},
            {"pace", kPaces.name(report.pace)},
            {"why_not", goal.why_no_reference}}},
          {"status", report.status},
          {"troubles", report.invalid_lines},
          {"note", kNotVerified}};
}

}  // namespace bench::mlperf
