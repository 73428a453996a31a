#include "probes/data/decode/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"

namespace bench::data {
namespace {

// Vectors of the compiler's own: the same code for x86-64 and aarch64.
using Float4 [[gnu::vector_size(16)]] = float;
using Int4 [[gnu::vector_size(16)]] = std::int32_t;
using Byte4 [[gnu::vector_size(4)]] = std::uint8_t;
constexpr int kLanes = 4;  // bytes of a pixel

Float4 load(const float* from) {
  Float4 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
void store(float* to, Float4 value) { std::memcpy(to, &value, sizeof(value)); }

void widen(const std::uint8_t* pixels, int count, float* to) {
  for (int i = 0; i < count; ++i) {
    Byte4 pixel;
    std::memcpy(&pixel, pixels + i * kLanes, sizeof(pixel));
    store(to + i * kLanes, __builtin_convertvector(pixel, Float4));
  }
}

/// Taps: known to the compiler; 0: `taps` says how many.
template <int Taps>
void along_row(const float* row, const FilterAxis& axis, const float* weights, float* to) {
  const int taps = Taps > 0 ? Taps : axis.taps;
  for (const int first : axis.first) {
    const float* from = row + first * kLanes;
    Float4 sum = load(from) * load(weights);
    for (int k = 1; k < taps; ++k) sum += load(from + k * kLanes) * load(weights + k * kLanes);
    store(to, sum);
    weights += taps * kLanes;
    to += kLanes;
  }
}

using AlongRow = void (*)(const float*, const FilterAxis&, const float*, float*);
AlongRow along_row_of(int taps) {
  constexpr AlongRow kKnown[] = {along_row<0>, along_row<1>, along_row<2>, along_row<3>,
                                 along_row<4>, along_row<5>, along_row<6>, along_row<7>};
  return taps < 8 ? kKnown[taps] : kKnown[0];
}

/// One row of the output, of rows that lie anywhere.
void down_columns(std::span<const float* const> rows, const float* weights, int pixels,
                  std::uint8_t* to) {
  for (int x = 0; x < pixels; ++x) {
    Float4 sum = load(rows[0] + x * kLanes) * weights[0] + 0.5f;
    for (std::size_t k = 1; k < rows.size(); ++k) sum += load(rows[k] + x * kLanes) * weights[k];
    const Int4 whole = __builtin_convertvector(sum, Int4);  // weights are positive: 0 to 255
    const Byte4 pixel = __builtin_convertvector(whole, Byte4);
    std::memcpy(to + x * kLanes, &pixel, sizeof(pixel));
  }
}

}  // namespace

FilterAxis make_axis(int inputs, int outputs, bool mirrored) {
  const double scale = static_cast<double>(inputs) / outputs;
  const double reach = std::max(scale, 1.0);
  FilterAxis axis;
  axis.taps = std::min(inputs, static_cast<int>(std::ceil(2.0 * reach)));
  axis.first.resize(static_cast<std::size_t>(outputs));
  axis.weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(axis.taps), 0.f);
  for (int i = 0; i < outputs; ++i) {
    const auto o = static_cast<std::size_t>(mirrored ? outputs - 1 - i : i);
    const double centre = (i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(centre - reach + 0.5));
    const int end = std::min({inputs, static_cast<int>(centre + reach + 0.5), begin + axis.taps});
    const int first = std::min(begin, inputs - axis.taps);
    axis.first[o] = first;
    float* weights = axis.weights.data() + o * static_cast<std::size_t>(axis.taps);
    double sum = 0;
    const auto weight = [&](int x) {
      return std::max(0.0, 1.0 - std::abs((x - centre + 0.5) / reach));
    };
    for (int x = begin; x < end; ++x) sum += weight(x);
    for (int x = begin; x < end; ++x) weights[x - first] = static_cast<float>(weight(x) / sum);
  }
  return axis;
}

Resampler::Resampler(int size) : size_(size) {
  if (size < 1) throw Error(ErrorKind::internal, "images of no size");
}

void Resampler::resize(const Picture& picture, bool flip, std::span<std::uint8_t> out) {
  const FilterAxis across = make_axis(picture.width, size_, flip);
  const FilterAxis down = make_axis(picture.height, size_, false);
  wide_.resize(across.weights.size() * kLanes);
  for (std::size_t i = 0; i < across.weights.size(); ++i)
    std::fill_n(wide_.data() + i * kLanes, kLanes, across.weights[i]);
  const auto floats = static_cast<std::size_t>(size_) * kLanes;
  const auto kept = static_cast<std::size_t>(down.taps);
  row_.resize(static_cast<std::size_t>(picture.width) * kLanes);
  rows_.resize(floats * kept);
  const AlongRow along = along_row_of(across.taps);
  std::vector<const float*> needed(kept);
  int made = 0;  // input rows
  for (int y = 0; y < size_; ++y) {
    const int first = down.first[static_cast<std::size_t>(y)];
    for (made = std::max(made, first); made < first + down.taps; ++made) {
      widen(picture.row(made), picture.width, row_.data());
      along(row_.data(), across, wide_.data(),
            rows_.data() + floats * (static_cast<std::size_t>(made) % kept));
    }
    for (std::size_t k = 0; k < kept; ++k)
      needed[k] = rows_.data() + floats * ((static_cast<std::size_t>(first) + k) % kept);
    down_columns(needed, down.weights.data() + static_cast<std::size_t>(y) * kept, size_,
                 out.data() + static_cast<std::size_t>(y) * floats);
  }
}

}  // namespace bench::data
