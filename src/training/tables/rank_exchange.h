// Exchanges table data between ranks over a group's data plane.
#pragma once

#include <cstdint>
#include <vector>

#include "devices/group.h"

namespace bench::training {

/// All-to-all: block r of `send` goes to rank r, block r of `received` comes from it; blocks have
/// `elements` each.
void exchange(Group& group, const std::vector<float>& send, std::vector<float>& received,
              std::int64_t elements);
void exchange(Group& group, const std::vector<std::int32_t>& send,
              std::vector<std::int32_t>& received, std::int64_t elements);
/// Every rank's numbers, equally many from each, in rank order.
std::vector<float> gather_all(Group& group, const std::vector<float>& mine);

/// Modulo 2^64.
std::uint64_t sum_over_ranks(Group& group, std::uint64_t value);

}  // namespace bench::training
