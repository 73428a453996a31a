// Drafts for speculative decoding without a second model: what followed the last tokens when they
// occurred before (prompt lookup decoding, Saxena 2023).
#pragma once

#include <cstdint>
#include <span>

namespace bench::inference {

/// At most `most` tokens that followed the latest earlier occurrence of the last three tokens, or
/// of the last two; empty if there is none.
std::span<const std::int32_t> looked_up(std::span<const std::int32_t> tokens, std::int64_t most);

}  // namespace bench::inference
