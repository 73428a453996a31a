// Whether a batch is what it should be: its samples made once more, by this thread alone.
#pragma once

#include "probes/data/loader/loader.h"

namespace bench::data {

/// Bytes and labels of the batch that another making gives otherwise.
std::uint64_t wrong_in_batch(const Pipeline& pipeline, const Loader& loader, const Batch& batch);

}  // namespace bench::data
