// Packed GEMMs against their definition and against unpacked parts.
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

struct ProductShape {
  std::int64_t m, n, k;
};

template <class T>
struct Matrix {
  std::int64_t rows, columns;
  std::vector<T> values;

  Matrix(std::int64_t r, std::int64_t c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
  static Matrix random(std::int64_t rows, std::int64_t columns, unsigned seed) {
    Matrix made(rows, columns);
    std::mt19937 bits(seed);
    std::normal_distribution<T> normal;
    for (T& value : made.values) value = normal(bits);
    return made;
  }
  T& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  Matrix turned() {
    Matrix other(columns, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) other.at(j, i) = at(i, j);
    return other;
  }
  /// `count` rows from `first`, in place.
  View part(std::int64_t first, std::int64_t count) {
    return {&at(first, 0), count, columns, sizeof(T) == 4 ? Dtype::f32 : Dtype::f64};
  }
  View view() { return part(0, rows); }
};

/// a b + addend + bias, written out.
template <class T>
struct Expected {
  Matrix<T> a, b, addend, bias;
  Matrix<double> c;

  explicit Expected(const ProductShape& s)
      : a(Matrix<T>::random(s.m, s.k, 1)),
        b(Matrix<T>::random(s.k, s.n, 2)),
        addend(Matrix<T>::random(s.m, s.n, 3)),
        bias(Matrix<T>::random(1, s.n, 4)),
        c(s.m, s.n) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) c.at(i, j) = double(addend.at(i, j)) + bias.at(0, j);
      for (std::int64_t p = 0; p < s.k; ++p)
        for (std::int64_t j = 0; j < s.n; ++j) c.at(i, j) += double(a.at(i, p)) * b.at(p, j);
    }
  }

  /// The largest distance from it, in roundings of T for each of k.
  double distance(const KernelSet& set, bool transpose_a, bool transpose_b) {
    Matrix<T> left = transpose_a ? a.turned() : a, right = transpose_b ? b.turned() : b;
    Matrix<T> found = addend;
    set.gemm->multiply({transpose_a, transpose_b, found.view(), bias.view()}, left.view(),
                       right.view(), found.view());
    double worst = 0.0;
    for (std::size_t i = 0; i < c.values.size(); ++i)
      worst = std::max(worst, std::abs(c.values[i] - found.values[i]));
    return worst / (std::numeric_limits<T>::epsilon() * static_cast<double>(a.columns));
  }
};

template <class T>
double worst_of_layouts(const ProductShape& shape, Dtype dtype) {
  Expected<T> expected(shape);
  double worst = 0.0;
  for (const std::string_view isa : host_kernel_isas())
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        worst = std::max(worst, expected.distance(host_kernels(dtype, isa), a, b));
  return worst;
}

}  // namespace

TEST_CASE("kernel: GEMMs larger than a cache are correct to rounding in all layouts") {
  // Blocks and slices that do not come out even, tiles of all heights, columns that fill no vector.
  for (const ProductShape& s :
       {ProductShape{49, 35, 3300}, ProductShape{700, 33, 360}, ProductShape{56, 2700, 49}}) {
    INFO(s.m << " " << s.n << " " << s.k);
    CHECK(worst_of_layouts<float>(s, Dtype::f32) < 4.0);
    CHECK(worst_of_layouts<double>(s, Dtype::f64) < 4.0);
  }
}

TEST_CASE("kernel: a GEMM larger than a cache equals that of its parts bit for bit") {
  const ProductShape s{104, 45, 2400};
  for (const std::string_view isa : host_kernel_isas()) {
    INFO(isa);
    const KernelSet set = host_kernels(Dtype::f32, isa);
    auto a = Matrix<float>::random(s.m, s.k, 5), b = Matrix<float>::random(s.k, s.n, 6);
    Matrix<float> turned = a.turned(), whole(s.m, s.n), depth(s.m, s.n), rows(s.m, s.n);
    set.gemm->multiply({true, false}, turned.view(), b.view(), whole.view());
    // As micro-batches do: of a weight's gradient each has some of the depth, of results some rows.
    for (std::int64_t p = 0; p < s.k; p += 300)
      set.gemm->multiply({true, false, p > 0 ? depth.view() : View{}}, turned.part(p, 300),
                         b.part(p, 300), depth.view());
    for (std::int64_t i = 0; i < s.m; i += 26)
      set.gemm->multiply({}, a.part(i, 26), b.view(), rows.part(i, 26));
    CHECK(whole.values == depth.values);
    CHECK(whole.values == rows.values);
  }
}

}  // namespace bench::training
