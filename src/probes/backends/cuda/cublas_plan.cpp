#include "probes/backends/cuda/cublas_plan.h"

#include <algorithm>

#include "core/order_statistics.h"
#include "probes/backends/cuda/cublas_algorithms.h"
#include "probes/backends/cuda/cublas_block_scales.h"
#include "probes/backends/cuda/cuda_libraries.h"
#include "probes/backends/cuda/finished_copies.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/backends/cuda/matrix_transpose.h"
#include "probes/backends/cuda/rotation.h"

namespace bench {
namespace {

std::size_t count(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void upload(const DeviceMemory& to, std::span<const std::byte> from) {
  copy_now(to.as<>(), from.data(), from.size(), "copy a matrix to the GPU");
}

}  // namespace

CublasPlan::CublasPlan(const GemmRequest& request, const CublasTypes& types,
                       const CublasContext& context)
    : shape_(request.shape),
      types_(types),
      transposed_b_(types.transposed_b || request.packed),
      descriptors_(cublas_product(request.shape, types, transposed_b_), types,
                   request.fast_accumulation),
      context_(context),
      alpha_(types.scale, 1.0),
      beta_(types.scale, 0.0),
      element_bytes_(size_of(request.dtype)),
      halves_(request.dtype == Dtype::nvfp4),
      strides_{aligned_for_rotation(stored_bytes(count(shape_.m, shape_.k))),
               aligned_for_rotation(stored_bytes(count(shape_.k, shape_.n))),
               aligned_for_rotation(count(shape_.m, shape_.n) * size_of(types.output))},
      result_bytes_(count(shape_.m, shape_.n) * size_of(types.output)),
      sets_(request.rotate ? rotation_sets(strides_.a + strides_.b + strides_.c, l2_bytes()) : 1),
      a_(sets_ * strides_.a),
      b_(sets_ * strides_.b),
      c_(sets_ * strides_.c) {
  if (types.block > 0) {
    a_scales_ = DeviceMemory(scale_bytes(static_cast<std::size_t>(shape_.m), blocks_in_line()));
    b_scales_ = DeviceMemory(scale_bytes(static_cast<std::size_t>(shape_.n), blocks_in_line()));
    descriptors_.set_scales(b_scales_.as<>(), a_scales_.as<>());
  }
  algorithms_ = cublas_algorithms(context.handle, descriptors_.get(), context.workspace_bytes,
                                  std::max(1, request.candidates));
}

std::size_t CublasPlan::stored_bytes(std::size_t elements) const {
  return halves_ ? elements / 2 : elements * element_bytes_;
}

std::size_t CublasPlan::blocks_in_line() const {
  return static_cast<std::size_t>(shape_.k / types_.block);
}

void CublasPlan::store(const DeviceMemory& to, std::span<const std::byte> elements) const {
  if (halves_)
    upload(to, packed_halves(elements));
  else
    upload(to, elements);
}

std::string CublasPlan::version() const { return cublas_version(); }

std::string CublasPlan::implementation() const {
  return to_string(configuration_of(algorithms_.at(chosen_)));
}

void CublasPlan::load(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != count(shape_.m, shape_.k) * element_bytes_ ||
      b.size() != count(shape_.k, shape_.n) * element_bytes_)
    throw Error(ErrorKind::internal, "matrix sizes differ from the GEMM shape");
  store(a_, a);
  if (transposed_b_)
    store(b_, transposed(b, shape_.k, shape_.n, element_bytes_));
  else
    store(b_, b);
  spread(a_, strides_.a);
  spread(b_, strides_.b);
}

void CublasPlan::spread(const DeviceMemory& matrices, std::size_t stride) const {
  for (std::size_t set = 1; set < sets_; ++set)
    copy_now(matrices.as<std::byte>() + set * stride, matrices.as<>(), stride,
             "copy a matrix for the rotation");
}

void CublasPlan::scale(const BlockScales& scales) {
  if (types_.block == 0) throw Error(ErrorKind::internal, "scales given for a GEMM without scales");
  const auto m = static_cast<std::size_t>(shape_.m), n = static_cast<std::size_t>(shape_.n);
  const std::size_t blocks = blocks_in_line();
  upload(a_scales_, tiled_scales(scales.a, m, blocks, blocks, 1));
  upload(b_scales_, tiled_scales(scales.b, n, blocks, 1, n));
  alpha_ = CublasScalar(types_.scale, static_cast<double>(scales.tensor));
}

void CublasPlan::clear() {
  check(cudaMemsetAsync(c_.as<>(), 0xff, c_.bytes(), context_.stream), "poison the result");
  check(cudaStreamSynchronize(context_.stream), "poison the result");
}

double CublasPlan::seconds_of_chosen() {
  constexpr int kWarmUps = 3, kTimings = 5;
  run(kWarmUps);
  check(cudaStreamSynchronize(context_.stream), "try an algorithm");
  std::vector<double> seconds;
  for (int i = 0; i < kTimings; ++i)
    seconds.push_back(context_.timer->time([&] { run(1); }, 1).value);
  return median(seconds);
}

void CublasPlan::tune() {
  chosen_ = fastest(algorithms_.size(), [&](std::size_t which) {
    chosen_ = which;
    return seconds_of_chosen();
  });
}

void CublasPlan::run(std::int64_t calls) {
  const cublasLtMatmulAlgo_t& algorithm = algorithms_.at(chosen_);
  for (; calls > 0; --calls) {
    set_ = set_ + 1 == sets_ ? 0 : set_ + 1;
    const std::byte* a = a_.as<std::byte>() + set_ * strides_.a;
    const std::byte* b = b_.as<std::byte>() + set_ * strides_.b;
    std::byte* c = c_.as<std::byte>() + set_ * strides_.c;
    check(cublasLtMatmul(context_.handle, descriptors_.operation(), alpha_.data(), b,
                         descriptors_.first(), a, descriptors_.second(), beta_.data(), c,
                         descriptors_.result(), c, descriptors_.result(), &algorithm,
                         context_.workspace, context_.workspace_bytes, context_.stream),
          "cublasLtMatmul");
  }
}

std::vector<std::byte> CublasPlan::result() const {
  std::vector<std::byte> bytes(result_bytes_);
  check(cudaStreamSynchronize(context_.stream), "the GEMM");
  copy_now(bytes.data(), c_.as<std::byte>() + set_ * strides_.c, bytes.size(), "read the result");
  inject_huge_value(bytes, size_of(types_.output));
  return bytes;
}

}  // namespace bench
