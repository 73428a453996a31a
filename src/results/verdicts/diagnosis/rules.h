// Rule table of the bottleneck diagnosis. A rule holds if all its bounds do; the first that holds
// is the bottleneck. Among rules on the same share of T only the first counts, so causes add up.
// docs/diagnosis.md has the same table with explanations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/verdicts/diagnosis/observation.h"

namespace bench::diagnosis {

enum class Cause {
  measurement_invalid,
  hardware_fault,
  throttling,
  data_fetch,
  data_preparation,
  head_of_line,
  data_wait,  // undetermined which of these three
  noisy_host,
  transfer,
  straggler,
  network_bound,
  misconfigured,
  exposed_communication,  // undetermined which of these three
  pipeline_bubble,
  offload_wait,
  uneven_threads,
  launch_bound,
  memory_bound,
  non_tensor,
  device_work,  // undetermined which of these three, or compute
  compute,
  checkpoint,
  evaluation,
  unexplained
};
/// As in JSON: "data_fetch".
std::string_view to_string(Cause cause);
/// For people: "input: storage reads".
std::string_view words_of(Cause cause);

enum class Is { above, at_least, below, at_most };

struct Bound {
  Measure measure = Measure::data_share;
  Is is = Is::above;
  double threshold = 0.0;

  bool holds(double value) const;
  /// "data wait > 5 %".
  std::string text() const;
  /// "> 5 %".
  std::string limit_text() const;
};

/// Upper bound of the speedup from fixing a cause: Amdahl's law on the share of T it removes.
struct Ceiling {
  enum class Kind {
    none,   // no bound is known, or there is no speed to gain
    share,  // all of `share` goes
    idle,   // the part of `share` in which the device is not busy goes: 1 - `measure`
    part,   // `measure` of `share` goes
    clock   // the clock comes back: 1 / `measure`
  };
  Kind kind = Kind::none;
  Measure share = Measure::data_share;
  Measure measure = Measure::data_share;

  /// "1 / (1 - data wait)"; "" for none.
  std::string text() const;
};

/// The device of the training.
enum class On { any, gpu, host };

struct Rule {
  std::string_view name = {};  // in JSON and docs, unique: "data_fetch"
  Cause cause = Cause::unexplained;
  std::vector<Subject> of = {Subject::training};
  On on = On::any;
  bool needs_steps = true;  // kSteadySteps of them
  std::vector<Bound> when = {};
  std::optional<Measure> share = {};   // how much of T it holds
  std::vector<Measure> evidence = {};  // reported next to the bounds, if known
  Ceiling ceiling = {};
  std::string_view experiment = {};  // confirms the cause
  std::string_view fix = {};
};

/// Fewer steps are no steady state.
inline constexpr double kSteadySteps = 100;

/// In order: the first that holds is the bottleneck.
const std::vector<Rule>& rules();
/// Null if there is none with that name.
const Rule* find_rule(std::string_view name);
/// All bounds in words: "data wait > 5 % and readiness < 95 %".
std::string condition_text(const Rule& rule);

}  // namespace bench::diagnosis
