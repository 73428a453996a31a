// Vectors as wide as the instruction set this is compiled for; included once for each set, after
// its macros: BENCH_ISA names the namespace, BENCH_VECTOR_BYTES the width.
#pragma once

#include <cstdint>
#include <cstring>

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

/// Always the same tree, whatever the compiler would like.
template <class T>
inline T lane_sum(Vec<T> v) {
  T lanes[kWidth<T>];
  store<T>(lanes, v);
  for (int half = kWidth<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

/// What a row sum's terms are made of: the elements at one position, zeros after the end.
template <class T>
struct Loader {
  Index at;
  Index count;
  inline __attribute__((always_inline)) Vec<T> operator()(const T* row) const {
    if (count == kWidth<T>) return load<T>(row + at);
    T lanes[kWidth<T>] = {};
    for (Index i = 0; i < count; ++i) lanes[i] = row[at + i];
    return load<T>(lanes);
  }
};

/// Sum over i < n of term(loader), where term makes a vector of loaded rows.
template <class T, class Term>
inline __attribute__((always_inline)) T row_sum(Index n, Term term) {
  Vec<T> sum = {};
  Index i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) sum += term(Loader<T>{i, kWidth<T>});
  if (i < n) sum += term(Loader<T>{i, n - i});
  return lane_sum<T>(sum);
}

template <class T>
inline T row_max(Index n, const T* x) {
  Index i = 0;
  T best = x[0];
  if (n >= kWidth<T>) {
    Vec<T> most = load<T>(x);
    for (i = kWidth<T>; i + kWidth<T> <= n; i += kWidth<T>) {
      const Vec<T> v = load<T>(x + i);
      most = v > most ? v : most;
    }
    T lanes[kWidth<T>];
    store<T>(lanes, most);
    for (int j = 0; j < kWidth<T>; ++j) best = lanes[j] > best ? lanes[j] : best;
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

}  // namespace bench::training::BENCH_ISA
