// Text of causes, bounds and ceilings.
#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "core/text.h"
#include "results/diagnosis/rules.h"

namespace bench::diagnosis {
namespace {

struct CauseWords {
  Cause cause;
  std::string_view name;
  std::string_view words;
};

constexpr CauseWords kCauses[] = {
    {Cause::measurement_invalid, "measurement_invalid", "invalid measurement"},
    {Cause::hardware_fault, "hardware_fault", "hardware fault"},
    {Cause::throttling, "throttling", "clock throttling"},
    {Cause::data_fetch, "data_fetch", "input: storage reads"},
    {Cause::data_preparation, "data_preparation", "input: CPU preprocessing"},
    {Cause::head_of_line, "head_of_line", "input: head-of-line blocking by slow samples"},
    {Cause::data_wait, "data_wait", "input: cause undetermined"},
    {Cause::noisy_host, "noisy_host", "late kernel launches on a busy host"},
    {Cause::transfer, "transfer", "host-to-device copies"},
    {Cause::straggler, "straggler", "communication: straggler rank"},
    {Cause::network_bound, "network_bound", "communication: network bandwidth saturated"},
    {Cause::misconfigured, "misconfigured", "communication: far below what this network can do"},
    {Cause::exposed_communication, "exposed_communication",
     "communication: cause undetermined"},
    {Cause::uneven_threads, "uneven_threads", "thread imbalance within a rank"},
    {Cause::launch_bound, "launch_bound", "launch-bound: small kernels"},
    {Cause::memory_bound, "memory_bound", "device memory bandwidth"},
    {Cause::non_tensor, "non_tensor", "compute without tensor cores"},
    {Cause::device_work, "device_work", "device work: cause undetermined"},
    {Cause::compute, "compute", "compute-bound"},
    {Cause::checkpoint, "checkpoint", "checkpoints"},
    {Cause::evaluation, "evaluation", "evaluations"},
    {Cause::unexplained, "unexplained", "unexplained time"}};

const CauseWords& entry(Cause cause) {
  return *std::ranges::find(kCauses, cause, &CauseWords::cause);
}

constexpr NameTable<Is, 4> kSigns{
    {{{Is::above, ">"}, {Is::at_least, ">="}, {Is::below, "<"}, {Is::at_most, "<="}}}};

std::string_view words(Measure measure) { return words_of(measure).words; }

}  // namespace

std::string_view to_string(Cause cause) { return entry(cause).name; }
std::string_view words_of(Cause cause) { return entry(cause).words; }

bool Bound::holds(double value) const {
  switch (is) {
    case Is::above:
      return value > threshold;
    case Is::at_least:
      return value >= threshold;
    case Is::below:
      return value < threshold;
    case Is::at_most:
      break;
  }
  return value <= threshold;
}

std::string Bound::text() const { return fmt::format("{} {}", words(measure), limit_text()); }

std::string Bound::limit_text() const {
  return fmt::format("{} {}", kSigns.name(is), format_measure(measure, threshold));
}

std::string Ceiling::text() const {
  switch (kind) {
    case Kind::share:
      return fmt::format("1 / (1 - {})", words(share));
    case Kind::idle:
      return fmt::format("1 / (1 - {} x (1 - {}))", words(share), words(measure));
    case Kind::part:
      return fmt::format("1 / (1 - {} x {})", words(share), words(measure));
    case Kind::clock:
      return fmt::format("1 / {}", words(measure));
    case Kind::none:
      break;
  }
  return "";
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(rules(), name, &Rule::name);
  return found == rules().end() ? nullptr : &*found;
}

std::string condition_text(const Rule& rule) {
  std::vector<std::string> bounds;
  for (const Bound& bound : rule.when) bounds.push_back(bound.text());
  return join(bounds, " and ");
}

}  // namespace bench::diagnosis
