#include "inference/prompt_lookup.h"

#include <algorithm>
#include <cstddef>

namespace bench::inference {

std::span<const std::int32_t> looked_up(std::span<const std::int32_t> tokens, std::int64_t most) {
  if (most <= 0) return {};
  for (const std::size_t length : {3U, 2U}) {
    if (tokens.size() <= length) continue;
    const auto last = tokens.last(length);
    for (std::size_t at = tokens.size() - length; at-- > 0;) {
      if (!std::ranges::equal(tokens.subspan(at, length), last)) continue;
      const auto after = tokens.subspan(at + length);
      return after.first(std::min(after.size(), static_cast<std::size_t>(most)));
    }
  }
  return {};
}

}  // namespace bench::inference
