#include "probes/probe.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

/// Registrations run before main, in any order; a function-local static is ready for the first of
/// them.
std::vector<Probe>& registry() {
  static std::vector<Probe> probes;
  return probes;
}

}  // namespace

Registration::Registration(Probe probe) {
  auto& probes = registry();
  const auto at = std::ranges::lower_bound(probes, probe.name, {}, &Probe::name);
  probes.insert(at, std::move(probe));
}

const std::vector<Probe>& all_probes() { return registry(); }

const Probe& find_probe(const std::string& name) {
  std::vector<std::string> names;
  for (const Probe& probe : registry()) {
    if (probe.name == name) return probe;
    names.push_back(probe.name);
  }
  throw Error(ErrorKind::input, "unknown probe '" + name + "'" + did_you_mean(name, names),
              "known probes: " + join(names, ", "));
}

}  // namespace bench
