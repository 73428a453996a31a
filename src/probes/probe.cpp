#include "probes/probe.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

/// Registrations and declarations run before main, in any order; a function-local static is ready
/// for the first of them.
std::vector<Probe>& registry() {
  static std::vector<Probe> probes;
  return probes;
}

Probe& entry(const std::string& name) {
  auto& probes = registry();
  const auto at = std::ranges::lower_bound(probes, name, {}, &Probe::name);
  if (at != probes.end() && at->name == name) return *at;
  return *probes.insert(at, Probe{.name = name});
}

}  // namespace

Registration::Registration(const std::string& name, void (*run)(State&)) { entry(name).run = run; }

Declaration::Declaration(const std::string& name, std::string_view description,
                         std::span<const MetricInfo> metrics) {
  Probe& probe = entry(name);
  probe.description = description;
  probe.metrics = metrics;
}

const std::vector<Probe>& all_probes() { return registry(); }

const Probe& find_probe(const std::string& name) {
  std::vector<std::string> names;
  for (const Probe& probe : registry()) {
    if (probe.run == nullptr) continue;
    if (probe.name == name) return probe;
    names.push_back(probe.name);
  }
  throw Error(ErrorKind::input, "unknown probe '" + name + "'" + did_you_mean(name, names),
              "known probes: " + join(names, ", "));
}

}  // namespace bench
