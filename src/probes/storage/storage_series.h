// One series of the probe `storage`: a load on all ranks at once, its total and its records.
#pragma once

#include <string>
#include <vector>

#include "probes/state.h"
#include "probes/storage/file_load.h"
#include "probes/storage/load_result.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {

struct StorageSeries {
  std::string path;     // as given: another storage is another series
  std::string pattern;  // "random_read"
  LoadRequest load;

  Json params() const;
};

/// Runs the load on all ranks and reports its series. Adds the pitfalls that were detected, with
/// the series they affect. Throws Error(environment) on all ranks.
void measure_load(State& state, const StorageSeries& series, const FileSystemFacts& file_system,
                  std::vector<Pitfall>& pitfalls);

}  // namespace bench::storage
