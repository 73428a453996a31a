// Work divided among the processors of the calling thread: preparing and verifying data, never what
// is timed.
#pragma once

#include <cstddef>
#include <functional>

namespace bench {

/// Processors in the affinity mask of the calling thread; 1 if the kernel does not say.
int allowed_processors();

/// Calls work(first, last) for consecutive parts of [0, count), at most one per thread and, but for
/// a single part, none of fewer than `least` elements. The caller is one of the threads. Returns
/// when all are done; rethrows the exception of the first part that failed. The division depends on
/// the machine, so results must not depend on it.
void in_parts(std::size_t count, std::size_t least,
              const std::function<void(std::size_t first, std::size_t last)>& work,
              int threads = allowed_processors());

}  // namespace bench
