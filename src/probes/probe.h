// A probe is a function that measures one thing, plus what others must know to call it: the name
// suites use and the metrics it promises. Its parameters are declared in
// schemas/probes/<name>.json; a test demands that the two agree.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

class State;

struct MetricInfo {
  std::string name;  // without the probe's name
  Unit unit;         // a flop_per_second metric may report op_per_second for integer dtypes
  Better better;
};

struct Probe {
  std::string name;
  std::string summary;
  std::vector<MetricInfo> metrics;
  void (*run)(State&);
};

/// Put one at namespace scope in the probe's own file; nothing else needs an edit.
struct Registration {
  explicit Registration(Probe probe);
};

/// All registered probes by name.
const std::vector<Probe>& all_probes();
/// Throws Error(input) with the nearest name.
const Probe& find_probe(const std::string& name);

}  // namespace bench
