#include "core/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json_fields.h"
#include "core/text.h"

namespace bench {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

constexpr std::size_t kLongestName = 40;  // bytes, of records that may be damaged

std::optional<double> number_or_none(const Json& json, const char* key) {
  const double value = number_field(json, key);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

Json to_json(const TrainingProgress& progress) {
  return {{"step", progress.step},
          {"last_step", progress.last_step},
          {"seconds", progress.seconds},
          {"item", progress.item},
          {"items_per_second", progress.items_per_second},
          {"step_s", progress.step_s},
          {"loss", progress.loss},
          {"gap", or_null(progress.gap)},
          {"target", or_null(progress.target)},
          {"mfu", or_null(progress.mfu)}};
}

std::optional<TrainingProgress> training_progress_from(const Json& json) {
  TrainingProgress progress;
  progress.step = integer_field(json, "step", -1);
  progress.last_step = integer_field(json, "last_step", -1);
  progress.seconds = number_field(json, "seconds");
  progress.item = text_field(json, "item").substr(0, kLongestName);
  progress.items_per_second = number_field(json, "items_per_second");
  progress.step_s = number_field(json, "step_s");
  progress.loss = number_field(json, "loss");
  progress.gap = number_or_none(json, "gap");
  progress.target = number_or_none(json, "target");
  progress.mfu = number_or_none(json, "mfu");
  const bool counted = progress.step >= 0 && progress.last_step >= 0 && progress.seconds >= 0.0;
  return counted && progress.items_per_second >= 0.0 && progress.step_s >= 0.0
             ? std::optional(progress)
             : std::nullopt;
}

Json to_json(const TrainingSlowdown& slowdown) {
  return {
      {"first", slowdown.first},     {"end", slowdown.end ? Json(*slowdown.end) : Json(nullptr)},
      {"usual_s", slowdown.usual_s}, {"slow_s", slowdown.slow_s},
      {"phase", slowdown.phase},     {"phase_share", slowdown.phase_share}};
}

std::optional<TrainingSlowdown> training_slowdown_from(const Json& json) {
  TrainingSlowdown slowdown;
  slowdown.first = integer_field(json, "first", -1);
  if (!field(json, "end").is_null()) slowdown.end = integer_field(json, "end", -1);
  slowdown.usual_s = number_field(json, "usual_s");
  slowdown.slow_s = number_field(json, "slow_s");
  slowdown.phase = text_field(json, "phase").substr(0, kLongestName);
  slowdown.phase_share = number_field(json, "phase_share", 0.0);
  const bool placed = slowdown.first >= 0 && (!slowdown.end || *slowdown.end > slowdown.first);
  return placed && slowdown.usual_s > 0.0 && slowdown.slow_s > 0.0 ? std::optional(slowdown)
                                                                   : std::nullopt;
}

std::string growth_text(const TrainingSlowdown& slowdown) {
  return fmt::format("{:+.0f} %", 100.0 * (slowdown.slow_s / slowdown.usual_s - 1.0));
}

std::string to_text(const TrainingSlowdown& slowdown) {
  std::string phase = printable(slowdown.phase);
  std::ranges::replace(phase, '_', ' ');
  const std::string where =
      slowdown.end ? fmt::format("steps {} to {} were slower", slowdown.first, *slowdown.end - 1)
                   : fmt::format("steps are slower since step {}", slowdown.first);
  return fmt::format("{}: {} instead of {} ({}){}", where, format(Seconds{slowdown.slow_s}),
                     format(Seconds{slowdown.usual_s}), growth_text(slowdown),
                     phase.empty() ? "" : ", mostly in " + phase);
}

}  // namespace bench
