// The views of one kernel call in f32. Those that are not bf16 pass.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "probes/training/kernels/functors/portable.h"
#include "probes/training/kernels/view.h"

namespace bench::training {

/// Buffers of all calls, kept so that a step allocates nothing.
using WideBuffers = std::deque<std::vector<float>>;

class WideViews {
 public:
  explicit WideViews(WideBuffers& buffers) : buffers_(buffers) {}
  /// Rounds what was written.
  ~WideViews() {
    for (const Written& one : written_)
      for (std::int64_t i = 0; i < one.narrow.elements(); ++i)
        one.narrow.as<Bf16>()[i] = Bf16(one.wide[i]);
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
    if (!view || view.dtype != Dtype::bf16) return view;
    if (used_ == buffers_.size()) buffers_.emplace_back();
    std::vector<float>& buffer = buffers_[used_++];
    const auto count = static_cast<std::size_t>(view.elements());
    if (buffer.size() < count) buffer.resize(count);
    if (reads)
      for (std::size_t i = 0; i < count; ++i) buffer[i] = static_cast<float>(view.as<Bf16>()[i]);
    if (writes) written_.push_back({view, buffer.data()});
    return {buffer.data(), view.rows, view.columns, Dtype::f32};
  }

  WideBuffers& buffers_;
  std::size_t used_ = 0;
  std::vector<Written> written_ = {};
};

}  // namespace bench::training
