#include "results/output/mlperf/progress_output.h"

#include <fmt/format.h>

#include "core/disclaimer.h"
#include "core/names.h"
#include "core/text.h"

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

std::string to_text(const ProgressReport& report) {
  std::vector<std::string> parts;
  if (report.phase < RunPhase::training) parts.push_back(init_text(report));
  if (report.run_minutes) {
    parts.push_back(fmt::format("{:.2f} min of training", *report.run_minutes));
    for (std::string part : {quality_text(report), projection_text(report), pace_text(report)})
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
