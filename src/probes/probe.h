// A probe is a function that measures one thing. Its name, parameters and metrics are declared
// once, in schemas/probes/<name>.json; CMake compiles the metrics in, so a rank needs no schema
// files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace bench {

class State;

struct MetricInfo {
  std::string_view name;  // without the probe's name
  Unit unit;              // a flop_per_second metric may report op_per_second for integer dtypes
  Better better;
};

struct Probe {
  std::string name;
  std::string_view description = "";
  std::span<const MetricInfo> metrics = {};
  void (*run)(State&) = nullptr;
};

/// The procedure. Put one at namespace scope in the probe's own file; nothing else needs an edit.
struct Registration {
  Registration(const std::string& name, void (*run)(State&));
};

/// The part from the schema, in the file that scripts/cmake/write_declarations.cmake writes. Its
/// arguments must live as long as the program.
struct Declaration {
  Declaration(const std::string& name, std::string_view description,
              std::span<const MetricInfo> metrics);
};

/// All probes that are registered or declared, by name. Each should be both; a test checks that.
const std::vector<Probe>& all_probes();
/// Throws Error(input) with the nearest name unless a procedure is registered.
const Probe& find_probe(const std::string& name);

}  // namespace bench
