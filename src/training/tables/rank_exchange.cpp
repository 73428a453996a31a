#include "training/tables/rank_exchange.h"

#include "devices/collectives.h"

namespace bench::training {

void exchange(Group& group, const std::vector<float>& send, std::vector<float>& received,
              std::int64_t elements) {
  group.collectives()->run(CollectiveOp::all_to_all, send.data(), received.data(),
                           static_cast<std::size_t>(elements), Dtype::f32);
}

void exchange(Group& group, const std::vector<std::int32_t>& send,
              std::vector<std::int32_t>& received, std::int64_t elements) {
  group.collectives()->run(CollectiveOp::all_to_all, send.data(), received.data(),
                           static_cast<std::size_t>(elements), Dtype::int32);
}

std::vector<float> gather_all(Group& group, const std::vector<float>& mine) {
  if (group.size() == 1) return mine;
  std::vector<float> all(mine.size() * static_cast<std::size_t>(group.size()));
  group.collectives()->run(CollectiveOp::all_gather, mine.data(), all.data(), mine.size(),
                           Dtype::f32);
  return all;
}

std::uint64_t sum_over_ranks(Group& group, std::uint64_t value) {
  // Sums of 16 bits each are exact in f64, for any number of ranks.
  double parts[4];
  for (int i = 0; i < 4; ++i) parts[i] = static_cast<double>(value >> (16 * i) & 0xffff);
  group.sum(parts);
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::uint64_t>(parts[i]) << (16 * i);
  return sum;
}

}  // namespace bench::training
