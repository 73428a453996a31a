// The stream loops written once over a vector type V, included by each file that is compiled for
// one vector extension. V offers kWidth (elements), zero, set, load, store, stream, add,
// multiply_add, sum, prefetch and fence.
//
// What the loops look like was tried, not guessed. Reading eight pages side by side gives the
// prefetcher, which stops at each page's end, eight streams (8 % on a server core). The streaming
// copy and triad wait for loads only: they prefetch 1 KiB ahead and keep the loads of two lines
// together (copy 10 to 20 %, triad 5 %); elsewhere prefetching costs. V::prefetch is an asm
// statement: GCC 12 finds that a function which only calls __builtin_prefetch has no effect, and
// drops the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/host/memory_errors.h"
#include "devices/host/stream_kernels.h"

namespace bench {
namespace {

inline constexpr std::size_t kLine = 8;         // elements of a cache line
inline constexpr std::size_t kPage = 512;       // elements of 4 KiB
inline constexpr std::size_t kAhead = 128;      // elements to prefetch ahead
inline constexpr std::size_t kFarRead = 65536;  // elements; smaller arrays may lie in L1 or L2

/// The sum of eight vectors, as a tree: a chain would cost a small array more than its loads do.
template <class V>
[[gnu::always_inline]] inline double sum_of(typename V::Type (&sums)[8]) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) sums[i] = V::add(sums[i], sums[i + 4]);
  return V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
}

/// Reads eight parts side by side, `stride` elements from one to the next, `length` of each.
template <class V>
[[gnu::always_inline]] inline void read_side_by_side(const double* b, std::size_t stride,
                                                     std::size_t length, std::size_t step,
                                                     typename V::Type (&sums)[8]) {
  for (std::size_t i = 0; i < length; i += step)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sums[k] = V::add(sums[k], V::load(b + i + k * stride));
}

template <class V>
double read(const double* b, std::size_t n) {
  constexpr std::size_t kStep = 8 * V::kWidth;
  constexpr std::size_t kPages = 8 * kPage;
  typename V::Type sums[8];
#pragma GCC unroll 8
  for (std::size_t k = 0; k < 8; ++k) sums[k] = V::zero();
  std::size_t i = 0;
  if (n >= kFarRead)
    for (; i + kPages <= n; i += kPages) read_side_by_side<V>(b + i, kPage, kPage, V::kWidth, sums);
  const std::size_t whole = (n - i) / kStep * kStep;
  read_side_by_side<V>(b + i, V::kWidth, whole, kStep, sums);
  for (i += whole; i < n; i += V::kWidth) sums[0] = V::add(sums[0], V::load(b + i));
  return sum_of<V>(sums);
}

/// Calls element(i) for each vector, four at a time.
template <class V, class Element>
[[gnu::always_inline]] inline void each_vector(std::size_t n, const Element& element) {
  constexpr std::size_t kStep = 4 * V::kWidth;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep)
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) element(i + k * V::kWidth);
  for (; i < n; i += V::kWidth) element(i);
}

/// Streams value(i) to a[i], two cache lines at a time; ahead(i) prefetches for the line at i.
template <class V, class Ahead, class Value>
[[gnu::always_inline]] inline void stream_lines(double* a, std::size_t n, const Ahead& ahead,
                                                const Value& value) {
  constexpr std::size_t kStep = 2 * kLine;
  constexpr std::size_t kVectors = kStep / V::kWidth;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    ahead(i);
    ahead(i + kLine);
    typename V::Type values[kVectors];
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) values[k] = value(i + k * V::kWidth);
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) V::stream(a + i + k * V::kWidth, values[k]);
  }
  for (; i < n; i += V::kWidth) V::stream(a + i, value(i));
  V::fence();
}

template <class V>
void write(double* a, double value, std::size_t n) {
  const typename V::Type v = V::set(value);
  each_vector<V>(
      n, [&](std::size_t i) __attribute__((always_inline)) { V::store(a + i, v); });
}

template <class V>
void write_nontemporal(double* a, double value, std::size_t n) {
  const typename V::Type v = V::set(value);
  each_vector<V>(
      n, [&](std::size_t i) __attribute__((always_inline)) { V::stream(a + i, v); });
  V::fence();
}

template <class V>
void copy(double* a, const double* b, std::size_t n) {
  each_vector<V>(
      n, [&](std::size_t i) __attribute__((always_inline)) { V::store(a + i, V::load(b + i)); });
}

template <class V>
void copy_nontemporal(double* a, const double* b, std::size_t n) {
  stream_lines<V>(
      a, n, [&](std::size_t i) __attribute__((always_inline)) { V::prefetch(b + i + kAhead); },
      [&](std::size_t i) __attribute__((always_inline)) { return V::load(b + i); });
}

template <class V>
void triad(double* a, const double* b, const double* c, double s, std::size_t n) {
  const typename V::Type scalar = V::set(s);
  each_vector<V>(
      n, [&](std::size_t i) __attribute__((always_inline)) {
        V::store(a + i, V::multiply_add(scalar, V::load(c + i), V::load(b + i)));
      });
}

template <class V>
void triad_nontemporal(double* a, const double* b, const double* c, double s, std::size_t n) {
  const typename V::Type scalar = V::set(s);
  stream_lines<V>(
      a, n,
      [&](std::size_t i) __attribute__((always_inline)) {
        V::prefetch(b + i + kAhead);
        V::prefetch(c + i + kAhead);
      },
      [&](std::size_t i) __attribute__((always_inline)) {
        return V::multiply_add(scalar, V::load(c + i), V::load(b + i));
      });
}

/// Left to the compiler, which makes vectors of it for this file's target.
template <class V>
void fill(double* a, std::uint64_t first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = pattern(first + i);
}

template <class V>
constexpr StreamKernels kernels_of(const char* instructions, bool nontemporal) {
  return {instructions,
          nontemporal,
          read<V>,
          write<V>,
          write_nontemporal<V>,
          copy<V>,
          copy_nontemporal<V>,
          triad<V>,
          triad_nontemporal<V>,
          fill<V>};
}

}  // namespace
}  // namespace bench
