// Nothing is read and nothing made: how fast batches could come if data cost nothing. A sample is
// its epoch and number, and what the memory held before.
#pragma once

#include <memory>

#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

/// Throws Error(usage) for samples of less than 16 bytes.
std::unique_ptr<Pipeline> synthetic_pipeline(std::uint64_t samples, std::size_t sample_bytes);

}  // namespace bench::data
