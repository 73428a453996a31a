#include "core/clean.h"

#include <algorithm>

#include "core/record.h"

namespace bench {
namespace {

std::vector<double> without(std::span<const double> values, std::span<const unsigned> flags,
                            unsigned faults) {
  std::vector<double> left;
  for (std::size_t i = 0; i < std::min(values.size(), flags.size()); ++i)
    if ((flags[i] & faults) == 0) left.push_back(values[i]);
  return left;
}

}  // namespace

std::size_t count_clean(std::span<const unsigned> flags) {
  return static_cast<std::size_t>(
      std::ranges::count_if(flags, [](unsigned flag) { return (flag & kUnclean) == 0; }));
}

std::vector<double> representative(std::span<const double> values,
                                   std::span<const unsigned> flags) {
  for (const unsigned faults : {kUnclean, kUnclean & ~static_cast<unsigned>(kCrowded)})
    if (auto left = without(values, flags, faults); !left.empty()) return left;
  return {values.begin(), values.end()};
}

}  // namespace bench
