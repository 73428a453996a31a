#include "probes/procedures/gemm_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace bench {
namespace {

constexpr std::uint64_t kVectorSeed = 0x5eed;

/// To bf16, round to nearest even.
std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16;
  float value = 0.0f;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void put_element(std::byte* at, Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::f64:
      return put(at, value);
    case Dtype::f32:
      return put(at, static_cast<float>(value));
    case Dtype::bf16:
      return put(at, to_bf16(static_cast<float>(value)));
    default:
      return put(at, static_cast<std::uint8_t>(static_cast<int>(value)));
  }
}

/// All elements as f64, which holds every one of them exactly.
std::vector<double> as_f64(std::span<const std::byte> bytes, Dtype dtype, bool is_unsigned) {
  std::vector<double> values(bytes.size() / size_of(dtype));
  const std::byte* at = bytes.data();
  for (double& value : values) {
    switch (dtype) {
      case Dtype::f64:
        value = get<double>(at);
        break;
      case Dtype::f32:
        value = get<float>(at);
        break;
      case Dtype::bf16:
        value = from_bf16(get<std::uint16_t>(at));
        break;
      case Dtype::int32:
        value = get<std::int32_t>(at);
        break;
      default:
        value = is_unsigned ? static_cast<double>(get<std::uint8_t>(at)) : get<std::int8_t>(at);
    }
    at += size_of(dtype);
  }
  return values;
}

struct Real {
  std::size_t m, n, k;
  std::vector<double> a, b, c;
};

Real as_real(const Matrices& x, Dtype output, std::span<const std::byte> c) {
  return {static_cast<std::size_t>(x.shape.m), static_cast<std::size_t>(x.shape.n),
          static_cast<std::size_t>(x.shape.k), as_f64(x.a, x.dtype, true),
          as_f64(x.b, x.dtype, false),         as_f64(c, output, false)};
}

/// y = M x for a matrix of rows x columns.
std::vector<double> times(const std::vector<double>& matrix, std::size_t rows,
                          const std::vector<double>& x) {
  std::vector<double> y(rows, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  return y;
}

/// Largest |C r - A (B r)| of a row; NaN where any is.
double freivalds_error(const Real& x, const std::vector<double>& r) {
  const std::vector<double> left = times(x.c, x.m, r);
  const std::vector<double> right = times(x.a, x.m, times(x.b, x.k, r));
  double worst = 0.0;
  for (std::size_t i = 0; i < x.m; ++i) {
    const double distance = std::abs(left[i] - right[i]);
    if (!(distance <= worst)) worst = distance;
    if (std::isnan(worst)) break;
  }
  return worst;
}

double element_error(const Real& x, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (std::size_t t = 0; t < x.k; ++t) sum += x.a[i * x.k + t] * x.b[t * x.n + j];
  return std::abs(x.c[i * x.n + j] - sum);
}

double all_elements_error(const Real& x) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.m; ++i)
    for (std::size_t j = 0; j < x.n; ++j) {
      const double error = element_error(x, i, j);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) return worst;
    }
  return worst;
}

double some_elements_error(const Real& x) {
  constexpr int kPlaces = 256;
  std::mt19937_64 generator(kVectorSeed);
  double worst = 0.0;
  for (int place = 0; place < kPlaces; ++place) {
    const double error = element_error(x, generator() % x.m, generator() % x.n);
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

/// Odd integers from -127 to 127: none is zero, so a single wrong element always shows, and the
/// sums stay below 2^53.
std::vector<double> odd_vector(std::size_t size) {
  std::mt19937_64 generator(kVectorSeed);
  std::vector<double> r(size);
  for (double& value : r) value = static_cast<double>(generator() % 128) * 2 - 127;
  return r;
}

double unit_roundoff(Dtype output) { return output == Dtype::f64 ? 0x1p-53 : 0x1p-24; }

}  // namespace

Matrices make_matrices(const GemmShape& shape, Dtype dtype, MatrixValues values,
                       std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> small(-8, 8);            // 64 k < 2^24 for every k we allow
  std::uniform_int_distribution<int> low(0, 127);             // two products fit 16 bits, which
  std::uniform_int_distribution<int> signed_byte(-127, 127);  // some instructions add them in
  const auto draw = [&](bool first) -> double {
    if (dtype == Dtype::int8) return first ? low(generator) : signed_byte(generator);
    return values == MatrixValues::integers ? small(generator) : normal(generator);
  };
  const auto fill = [&](std::int64_t rows, std::int64_t columns, bool first) {
    const std::size_t size = size_of(dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows * columns) * size);
    for (std::size_t i = 0; i < bytes.size(); i += size)
      put_element(bytes.data() + i, dtype, draw(first));
    return bytes;
  };
  Matrices matrices{shape, dtype, values, {}, {}};
  matrices.a = fill(shape.m, shape.k, true);
  matrices.b = fill(shape.k, shape.n, false);
  return matrices;
}

Check check_exact(const Matrices& matrices, Dtype output, std::span<const std::byte> c) {
  constexpr double kSmall = 1 << 25;  // operations: some ten milliseconds
  const Real x = as_real(matrices, output, c);
  double error = freivalds_error(x, odd_vector(x.n));
  const double elements =
      matrices.shape.operations() <= kSmall ? all_elements_error(x) : some_elements_error(x);
  if (!std::isnan(error) && !(elements <= error)) error = elements;
  return {"exact integers", error, 0.0};
}

Check check_freivalds(const Matrices& matrices, Dtype output, std::span<const std::byte> c,
                      std::uint64_t seed) {
  const Real x = as_real(matrices, output, c);
  std::mt19937_64 generator(seed);
  std::vector<double> r(x.n);
  // About 1 in size, so that it does not change the size of errors; no two alike, so that exchanged
  // columns show; never near zero, so that every element does.
  std::uniform_real_distribution<double> size(0.5, 1.5);
  for (double& value : r) value = (generator() & 1) != 0 ? size(generator) : -size(generator);
  // The check's own roundings, in f64, count for an f64 product: n terms more.
  const double terms = static_cast<double>(x.k + (output == Dtype::f64 ? x.n : 0));
  const double rounding = unit_roundoff(output) * terms / 2 * std::sqrt(static_cast<double>(x.n));
  return {"Freivalds", freivalds_error(x, r) / (16 * rounding), 1.0};
}

Check check_product(const Matrices& matrices, Dtype output, std::span<const std::byte> c) {
  if (is_integer(matrices.dtype) || matrices.values == MatrixValues::integers)
    return check_exact(matrices, output, c);
  return check_freivalds(matrices, output, c, kVectorSeed);
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0x9e3779b97f4a7c15 ^ bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0xff51afd7ed558ccd;  // odd: no two words go to the same place
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace bench
