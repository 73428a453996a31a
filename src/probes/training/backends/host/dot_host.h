// Dot products of all pairs of a row's features. Sums over lanes are made for as many pairs at a time
// as a vector has lanes: half as many shuffles as sums one by one.
#pragma once

#include "probes/training/backends/host/vector.h"

namespace bench::training::BENCH_ISA {

template <class T>
struct Features {
  const T* first;
  const T* rest;
  Index width;
  Index count;
  inline __attribute__((always_inline)) const T* operator[](Index i) const {
    return i == 0 ? first : rest + (i - 1) * width;
  }
};

/// Lanes with the bit `half` are those of the second vector; the others' with that bit changed.
template <int half, int width, bool other>
struct Halves {
  static constexpr int lane(int l) { return (l & half ? width : 0) + (other ? l ^ half : l); }
};

/// Lane l of v[0] becomes the sum of the lanes of v[l]. Overwrites v.
template <class T, int half = kWidth<T> / 2>
inline __attribute__((always_inline)) Vec<T> sums_of_lanes(Vec<T>* v) {
  if constexpr (half == 0) {
    return v[0];
  } else {
    for (int i = 0; i < half; ++i)
      v[i] = shuffled<Halves<half, kWidth<T>, false>, T>(v[i], v[i + half]) +
             shuffled<Halves<half, kWidth<T>, true>, T>(v[i], v[i + half]);
    return sums_of_lanes<T, half / 2>(v);
  }
}

/// <a, b>, before the sum over lanes. `single`: a feature is one vector.
template <class T, bool single>
inline __attribute__((always_inline)) Vec<T> lane_products(const T* a, const T* b, Index width) {
  if constexpr (single) return load<T>(a) * load<T>(b);
  Vec<T> sum = {};
  each_vector<T>(width, [&](auto at) { sum += at(a) * at(b); });
  return sum;
}

template <class T, bool single>
inline void products_of_pairs(const Features<T>& z, T* out) {
  Vec<T> products[kWidth<T>];
  int held = 0;
  for (Index i = 1; i < z.count; ++i) {
    const T* own = z[i];
    for (Index j = 0; j < i; ++j) {
      products[held] = lane_products<T, single>(own, z[j], z.width);
      if (++held < kWidth<T>) continue;
      store<T>(out, sums_of_lanes<T>(products));
      out += kWidth<T>;
      held = 0;
    }
  }
  if (held == 0) return;
  for (int rest = held; rest < kWidth<T>; ++rest) products[rest] = Vec<T>{};
  Lanes<T>{0, held}.put(out, sums_of_lanes<T>(products));
}

/// y: the first feature, then the dot products of pairs (1, 0), (2, 0), (2, 1), (3, 0), ...
template <class T>
inline void dot_row(const Features<T>& z, T* y) {
  const T* first = z[0];
  each_vector<T>(z.width, [=](auto at) { at.put(y, at(first)); });
  if (z.width == kWidth<T>)
    products_of_pairs<T, true>(z, y + z.width);
  else
    products_of_pairs<T, false>(z, y + z.width);
}

/// Feature i's gradient: the sum over all others j of the pair's gradient times feature j.
template <class T>
inline void dot_row_backward(const Features<T>& z, const T* dy, T* first_gradient, bool add_first,
                             T* rest_gradient, bool add_rest) {
  const T* pairs = dy + z.width;
  each_vector<T>(z.width, [&](auto at) {
    for (Index i = 0; i < z.count; ++i) {
      T* gradient = i == 0 ? first_gradient : rest_gradient;
      if (!gradient) continue;
      if (i > 0) gradient += (i - 1) * z.width;
      Vec<T> lower = i == 0 ? at(dy) : Vec<T>{}, upper = {};
      const T* own = pairs + i * (i - 1) / 2;
      for (Index j = 0; j < i; ++j) lower += own[j] * at(z[j]);
      for (Index j = i + 1; j < z.count; ++j) upper += pairs[j * (j - 1) / 2 + i] * at(z[j]);
      const Vec<T> sum = lower + upper;
      at.put(gradient, (i == 0 ? add_first : add_rest) ? at(gradient) + sum : sum);
    }
  });
}

}  // namespace bench::training::BENCH_ISA
