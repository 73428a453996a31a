// Samples that lie one after another can be read at once.
#pragma once

#include <cstdint>
#include <span>

namespace bench::data {

/// Calls each(first sample, how many, place in the list) for each run of consecutive numbers; a run
/// ends where `most_from(first)` samples are done, as at the end of a file.
template <class Most, class Each>
void each_run(std::span<const std::uint64_t> samples, Most most_from, Each each) {
  for (std::size_t at = 0; at < samples.size();) {
    const std::uint64_t first = samples[at];
    const std::uint64_t most = most_from(first);
    std::size_t length = 1;
    while (at + length < samples.size() && length < most && samples[at + length] == first + length)
      ++length;
    each(first, length, at);
    at += length;
  }
}

}  // namespace bench::data
