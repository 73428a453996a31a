#include "training/parallel/top_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "core/error.h"
#include "devices/collectives.h"
#include "devices/host_clock.h"

namespace bench::training {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Ordered like |x|, with NaN last.
template <class T>
BitsOf<T> magnitude(T x) {
  return static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(x) << 1);
}

template <class T>
void choose_largest_of(const T* x, std::int64_t elements, BitsOf<T>* scratch,
                       std::span<std::int32_t> chosen) {
  if (chosen.empty()) return;
  std::transform(x, x + elements, scratch, magnitude<T>);
  BitsOf<T>* const last = scratch + std::ssize(chosen) - 1;
  std::nth_element(scratch, last, scratch + elements, std::greater<>());
  const BitsOf<T> least = *last;
  auto equal = static_cast<std::int64_t>(std::count(scratch, last + 1, least));
  std::size_t at = 0;
  for (std::int64_t i = 0; i < elements && at < chosen.size(); ++i) {
    const BitsOf<T> one = magnitude(x[i]);
    if (one < least || (one == least && equal-- <= 0)) continue;
    chosen[at++] = static_cast<std::int32_t>(i);
  }
}

}  // namespace

void choose_largest(View x, std::byte* scratch, std::span<std::int32_t> chosen) {
  with_row_type(x.dtype, [&]<class T>(T) {
    choose_largest_of(x.as<T>(), x.elements(), reinterpret_cast<BitsOf<T>*>(scratch), chosen);
  });
}

TopK::TopK(const ExchangeMethod& method, const CompressorPlace& place,
           const std::vector<RowTensor>& tensors, Dtype dtype)
    : place_(place), dtype_(dtype) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t row = 0;
  for (const RowTensor& tensor : tensors) {
    if (tensor.elements() > kMost)
      throw Error(
          ErrorKind::input,
          fmt::format("topk: a tensor has {} elements, more than {}", tensor.elements(), kMost),
          "use powersgd or local");
    sent_.push_back({tensor, count_, sent_elements(method, tensor.elements())});
    count_ += sent_.back().count;
    row = std::max(row, tensor.first + tensor.elements());
  }
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto index = static_cast<std::int64_t>(sizeof(std::int32_t));
  const std::int64_t ranks = place.group.size();
  scratch_ = MemoryBlock(row * size, "magnitudes of gradients");
  indices_ = MemoryBlock(count_ * index, "indices of gradients to send");
  values_ = MemoryBlock(count_ * size, "values of gradients to send");
  all_indices_ = MemoryBlock(ranks * count_ * index, "indices of received gradients");
  all_values_ = MemoryBlock(ranks * count_ * size, "values of received gradients");
}

std::int64_t TopK::bytes() const {
  return scratch_.bytes() + indices_.bytes() + values_.bytes() + all_indices_.bytes() +
         all_values_.bytes();
}

/// Moves the largest elements from the row to the message.
template <class T>
void TopK::choose(const Sent& sent, View rest) {
  const View tensor = part_of(rest, sent.tensor.first, sent.tensor.elements());
  auto* const chosen = reinterpret_cast<std::int32_t*>(indices_.data()) + sent.first;
  choose_largest(tensor, scratch_.data() + sent.tensor.first * static_cast<std::int64_t>(sizeof(T)),
                 {chosen, static_cast<std::size_t>(sent.count)});
  T* const values = reinterpret_cast<T*>(values_.data()) + sent.first;
  for (std::int64_t i = 0; i < sent.count; ++i) {
    values[i] = tensor.as<T>()[chosen[i]];
    tensor.as<T>()[chosen[i]] = T{};
  }
}

template <class T>
void TopK::add(const Sent& sent, View sum) const {
  const View tensor = part_of(sum, sent.tensor.first, sent.tensor.elements());
  std::memset(tensor.data, 0, static_cast<std::size_t>(tensor.elements()) * sizeof(T));
  for (int rank = 0; rank < place_.group.size(); ++rank) {
    const std::int64_t first = rank * count_ + sent.first;
    const auto* const chosen = reinterpret_cast<const std::int32_t*>(all_indices_.data()) + first;
    const T* const values = reinterpret_cast<const T*>(all_values_.data()) + first;
    for (std::int64_t i = 0; i < sent.count; ++i) tensor.as<T>()[chosen[i]] += values[i];
  }
}

void TopK::exchange(View rest, View sum) {
  const auto of_tensors = [&](const auto& work) {
    place_.pool.run([&](int thread) {
      split_work(std::ssize(sent_), thread, place_.pool.size(),
                 [&](std::int64_t i) { work(sent_[static_cast<std::size_t>(i)]); });
    });
  };
  with_row_type(dtype_,
                [&]<class T>(T) { of_tensors([&](const Sent& sent) { choose<T>(sent, rest); }); });
  const Seconds begin = steady_now();
  Collectives& collectives = *place_.group.collectives();
  const auto count = static_cast<std::size_t>(count_);
  collectives.run(CollectiveOp::all_gather, indices_.data(), all_indices_.data(), count,
                  Dtype::int32);
  collectives.run(CollectiveOp::all_gather, values_.data(), all_values_.data(), count, dtype_);
  communicated_ = steady_now() - begin;
  with_row_type(dtype_,
                [&]<class T>(T) { of_tensors([&](const Sent& sent) { add<T>(sent, sum); }); });
}

}  // namespace bench::training
