// The views of one kernel call converted to f32. Views of f32 and wider types are unchanged.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "probes/training/kernels/functors/portable.h"
#include "probes/training/kernels/view.h"

namespace bench::training {

/// Buffers for all calls, reused so that a step does not allocate.
using WideBuffers = std::deque<std::vector<float>>;

/// Converts elements of a 16-bit view from and to f32.
template <class T>
void widen(View from, float* to) {
  for (std::int64_t i = 0; i < from.elements(); ++i) to[i] = static_cast<float>(from.as<T>()[i]);
}
template <class T>
void round_into(const float* from, View to) {
  for (std::int64_t i = 0; i < to.elements(); ++i) to.as<T>()[i] = T(from[i]);
}
inline void widen(View from, float* to) {
  from.dtype == Dtype::f16 ? widen<F16>(from, to) : widen<Bf16>(from, to);
}
inline void round_into(const float* from, View to) {
  to.dtype == Dtype::f16 ? round_into<F16>(from, to) : round_into<Bf16>(from, to);
}

class WideViews {
 public:
  explicit WideViews(WideBuffers& buffers) : buffers_(buffers) {}
  /// Rounds the outputs back.
  ~WideViews() {
    for (const Written& one : written_) round_into(one.wide, one.narrow);
  }
  WideViews(const WideViews&) = delete;
  WideViews& operator=(const WideViews&) = delete;

  View read(View view) { return make(view, true, false); }
  View written(View view) { return make(view, false, true); }
  View changed(View view) { return make(view, true, true); }
  /// Written, or with `add` added to.
  View written_or_added(View view, bool add) { return make(view, add, true); }

 private:
  struct Written {
    View narrow;
    const float* wide;
  };

  View make(View view, bool reads, bool writes) {
    if (!view || !is_narrow(view.dtype)) return view;
    if (used_ == buffers_.size()) buffers_.emplace_back();
    std::vector<float>& buffer = buffers_[used_++];
    const auto count = static_cast<std::size_t>(view.elements());
    if (buffer.size() < count) buffer.resize(count);
    if (reads) widen(view, buffer.data());
    if (writes) written_.push_back({view, buffer.data()});
    return {buffer.data(), view.rows, view.columns, Dtype::f32};
  }

  WideBuffers& buffers_;
  std::size_t used_ = 0;
  std::vector<Written> written_ = {};
};

}  // namespace bench::training
