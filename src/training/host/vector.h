// Vectors as wide as the target instruction set; included once per set, after its macros: BENCH_ISA
// is the namespace, BENCH_VECTOR_BYTES the width.
#pragma once

#include <cstdint>
#include <utility>

namespace bench::training::BENCH_ISA {

using Index = std::int64_t;

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(BENCH_VECTOR_BYTES)));
};
template <class T>
using Vec = typename VectorOf<T>::Type;
template <class T>
constexpr int kWidth = BENCH_VECTOR_BYTES / static_cast<int>(sizeof(T));

template <class T>
constexpr Index round_up(Index n) {
  return (n + kWidth<T> - 1) / kWidth<T> * kWidth<T>;
}

template <class T>
inline __attribute__((always_inline)) Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class T>
inline __attribute__((always_inline)) void store(T* to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

/// Integers as wide as T, for comparisons and shuffles.
template <class T>
using Mask = decltype(Vec<T>{} < Vec<T>{});

template <class T, class From, int... lane>
inline __attribute__((always_inline)) Vec<T> lanes_of(Vec<T> a, Vec<T> b, From,
                                                      std::integer_sequence<int, lane...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, From::lane(lane)...);
#else  // g++ 11
  return __builtin_shuffle(a, b, Mask<T>{From::lane(lane)...});
#endif
}

/// Lane i gets lane From::lane(i) of a, or of b for numbers from the width on.
template <class From, class T>
inline __attribute__((always_inline)) Vec<T> shuffled(Vec<T> a, Vec<T> b) {
  return lanes_of<T>(a, b, From{}, std::make_integer_sequence<int, kWidth<T>>{});
}

template <int by, int width>
struct Rotated {
  static constexpr int lane(int i) { return (i + by) % width; }
};

/// Lane i gets lane (i + by) mod width.
template <int by, class T>
inline __attribute__((always_inline)) Vec<T> rotated(Vec<T> v) {
  return shuffled<Rotated<by, kWidth<T>>, T>(v, v);
}

template <class T>
inline __attribute__((always_inline)) Vec<T> larger(Vec<T> a, Vec<T> b) {
  return a > b ? a : b;
}

/// Always the same tree, independent of the compiler.
template <class T, int half = kWidth<T> / 2>
inline __attribute__((always_inline)) T lane_sum(Vec<T> v) {
  if constexpr (half > 0)
    return lane_sum<T, half / 2>(v + rotated<half, T>(v));
  else
    return v[0];
}

template <class T, int half = kWidth<T> / 2>
inline __attribute__((always_inline)) T lane_max(Vec<T> v) {
  if constexpr (half > 0)
    return lane_max<T, half / 2>(larger<T>(v, rotated<half, T>(v)));
  else
    return v[0];
}

/// The first `count` lanes of v, `otherwise` in the others.
template <class T>
inline __attribute__((always_inline)) Vec<T> first_lanes(Vec<T> v, Index count, T otherwise) {
  Vec<T> lane;
  for (int i = 0; i < kWidth<T>; ++i) lane[i] = static_cast<T>(i);
  return lane < static_cast<T>(count) ? v : Vec<T>{} + otherwise;
}

/// A vector's position in a row: loads give zeros beyond the row's end, stores stop there.
template <class T>
struct Lanes {
  Index at;
  Index count;
  inline __attribute__((always_inline)) Vec<T> operator()(const T* row) const {
    if (count == kWidth<T>) return load<T>(row + at);
    T lanes[kWidth<T>] = {};
    for (Index i = 0; i < count; ++i) lanes[i] = row[at + i];
    return load<T>(lanes);
  }
  inline __attribute__((always_inline)) void put(T* row, Vec<T> v) const {
    if (count == kWidth<T>) return store<T>(row + at, v);
    for (Index i = 0; i < count; ++i) row[at + i] = v[i];
  }
};

/// work(lanes) for every vector of a row of n.
template <class T, class Work>
inline __attribute__((always_inline)) void each_vector(Index n, Work work) {
  Index i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) work(Lanes<T>{i, kWidth<T>});
  if (i < n) work(Lanes<T>{i, n - i});
}

/// Sum over i < n of term(lanes), which returns a vector.
template <class T, class Term>
inline __attribute__((always_inline)) T row_sum(Index n, Term term) {
  Vec<T> sum = {};
  Index i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) sum += term(Lanes<T>{i, kWidth<T>});
  if (i < n) sum += term(Lanes<T>{i, n - i});
  return lane_sum<T>(sum);
}

template <class T>
inline T row_max(Index n, const T* x) {
  Vec<T> most = Vec<T>{} + x[0];
  Index i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) most = larger<T>(load<T>(x + i), most);
  T best = lane_max<T>(most);
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

}  // namespace bench::training::BENCH_ISA
