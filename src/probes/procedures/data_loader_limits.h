// What the loader cannot pass on this host, each limit measured by itself.
#pragma once

#include <vector>

#include "probes/data/loader/rates.h"
#include "probes/data/model/limits.h"
#include "probes/procedures/data_loader_series.h"

namespace bench {

struct DiskRead {
  const data::ColdRead& cold;  // reading alone, from the disk
  bool from_memory = false;    // the loop was not: the data set is in memory
};

/// The limits of a loader whose loop was measured, the least first; writes each, how far the loader
/// is from the least, and what binds as facts. From memory the disk binds nothing; what would bind
/// with data that do not fit stands alongside it.
std::vector<data::LoaderLimit> write_limits(State& state, const DataLoaderSetup& setup,
                                            const data::LoaderOptions& options,
                                            const MeasuredLoop& loop, const DiskRead& disk,
                                            Json& facts);

}  // namespace bench
