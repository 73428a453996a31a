// Places buffers in an arena so that buffers with disjoint lifetimes can share memory.
#pragma once

#include "probes/training/engine/plan.h"

namespace bench::training {

/// Sets the offsets of the buffers of one arena and returns its bytes: largest first, each at the
/// lowest offset where nothing alive at the same time lies. Buffers without a life (last < first)
/// and those of every arena but `transient` get a place of their own.
std::int64_t lay_out(std::vector<Buffer>& buffers, Arena arena);

}  // namespace bench::training
