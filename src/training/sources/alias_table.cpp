#include "training/sources/alias_table.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr std::uint64_t kPatterns = std::uint64_t{1} << 32;

}  // namespace

std::vector<std::uint32_t> exact_weights(std::span<const double> proportions) {
  const double sum = std::accumulate(proportions.begin(), proportions.end(), 0.0);
  std::vector<std::uint32_t> weights;
  std::uint64_t given = 0;
  for (const double proportion : proportions) {
    const auto share = static_cast<std::uint32_t>(proportion / sum * (kPatterns - 1.0));
    weights.push_back(proportion > 0 ? std::max(share, 1u) : 0u);
    given += weights.back();
  }
  // The rounding error is a part in 10^9 of the largest.
  auto& largest = *std::max_element(weights.begin(), weights.end());
  largest = static_cast<std::uint32_t>(largest + kPatterns - given);
  return weights;
}

AliasTable::AliasTable(std::size_t values)
    : bucket_bits_(std::bit_width(std::max<std::size_t>(values, 2) - 1)) {}

void AliasTable::add(std::span<const std::uint32_t> weights) {
  const std::size_t size = std::size_t{1} << bucket_bits_;
  const std::uint64_t room = kPatterns >> bucket_bits_;
  if (weights.size() > size ||
      std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}) != kPatterns)
    throw Error(ErrorKind::internal, "the weights of an alias table do not sum to 2^32");
  std::vector<std::uint64_t> left(weights.begin(), weights.end());
  left.resize(size);
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < size; ++i) (left[i] < room ? small : large).push_back(i);
  const std::size_t row = buckets_.size();
  for (std::uint32_t i = 0; i < size; ++i)
    buckets_.push_back({static_cast<std::uint32_t>(room), i});
  // A small value fills up its bucket from a large one, which may then be small itself.
  for (; !small.empty(); small.pop_back()) {
    const std::uint32_t needy = small.back(), giver = large.back();
    buckets_[row + needy] = {static_cast<std::uint32_t>(left[needy]), giver};
    left[giver] -= room - left[needy];
    if (left[giver] >= room) continue;
    large.pop_back();
    small.back() = giver;
    small.push_back(giver);
  }
}

}  // namespace bench::training
