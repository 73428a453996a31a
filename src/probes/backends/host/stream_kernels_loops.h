// The stream loops written once over a vector type V, included by each file that is compiled for
// one vector extension. V offers kWidth (elements), zero, set, load, store, stream, add,
// multiply_add, sum, prefetch and fence.
//
// What the loops look like was tried, not guessed: reading eight pages side by side gives the
// prefetcher, which stops at each page's end, eight streams (8 % on a server core); the streaming
// copy and triad prefetch 1 KiB ahead (4 %), as they wait for loads only; elsewhere prefetching
// costs.
#pragma once

#include <cstddef>

#include "probes/backends/host/stream_kernels.h"

namespace bench {
namespace {

inline constexpr std::size_t kPage = 512;       // elements of 4 KiB
inline constexpr std::size_t kAhead = 128;      // elements to prefetch ahead
inline constexpr std::size_t kSideBySide = 8;   // pages read at once
inline constexpr std::size_t kFarRead = 65536;  // elements; smaller arrays may lie in L1 or L2

template <class V>
double sum_of(const typename V::Type* sums, std::size_t count) {
  typename V::Type total = V::zero();
  for (std::size_t i = 0; i < count; ++i) total = V::add(total, sums[i]);
  return V::sum(total);
}

template <class V>
double read(const double* b, std::size_t n) {
  constexpr std::size_t kStep = 8 * V::kWidth;
  typename V::Type sums[8];
  for (auto& sum : sums) sum = V::zero();
  std::size_t i = 0;
  if (n >= kFarRead)
    for (; i + kSideBySide * kPage <= n; i += kSideBySide * kPage)
      for (std::size_t k = 0; k < kPage; k += V::kWidth)
#pragma GCC unroll 8
        for (std::size_t page = 0; page < kSideBySide; ++page)
          sums[page] = V::add(sums[page], V::load(b + i + page * kPage + k));
  for (; i + kStep <= n; i += kStep)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sums[k] = V::add(sums[k], V::load(b + i + k * V::kWidth));
  for (; i < n; i += V::kWidth) sums[0] = V::add(sums[0], V::load(b + i));
  return sum_of<V>(sums, 8);
}

template <class V, bool kStream>
void put(double* a, typename V::Type value) {
  if constexpr (kStream)
    V::stream(a, value);
  else
    V::store(a, value);
}

/// Calls element(i) for each vector, `kUnroll` at a time.
template <class V, std::size_t kUnroll, class Element>
[[gnu::always_inline]] inline void each_vector(std::size_t n, const Element& element) {
  constexpr std::size_t kStep = kUnroll * V::kWidth;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kUnroll; ++k) element(i + k * V::kWidth);
  for (; i < n; i += V::kWidth) element(i);
}

template <class V, bool kStream>
void write(double* a, double value, std::size_t n) {
  const typename V::Type v = V::set(value);
  each_vector<V, 4>(
      n, [&](std::size_t i) __attribute__((always_inline)) { put<V, kStream>(a + i, v); });
  if constexpr (kStream) V::fence();
}

template <class V, bool kStream>
void copy(double* a, const double* b, std::size_t n) {
  each_vector<V, kStream ? 2 : 4>(
      n, [&](std::size_t i) __attribute__((always_inline)) {
        if constexpr (kStream) V::prefetch(b + i + kAhead);
        put<V, kStream>(a + i, V::load(b + i));
      });
  if constexpr (kStream) V::fence();
}

template <class V, bool kStream>
void triad(double* a, const double* b, const double* c, double s, std::size_t n) {
  const typename V::Type scalar = V::set(s);
  each_vector<V, kStream ? 2 : 4>(
      n, [&](std::size_t i) __attribute__((always_inline)) {
        if constexpr (kStream) {
          V::prefetch(b + i + kAhead);
          V::prefetch(c + i + kAhead);
        }
        put<V, kStream>(a + i, V::multiply_add(scalar, V::load(c + i), V::load(b + i)));
      });
  if constexpr (kStream) V::fence();
}

template <class V>
constexpr StreamKernels kernels_of(const char* instructions, bool nontemporal) {
  return {instructions,   nontemporal,   read<V>,         write<V, false>, write<V, true>,
          copy<V, false>, copy<V, true>, triad<V, false>, triad<V, true>};
}

}  // namespace
}  // namespace bench
