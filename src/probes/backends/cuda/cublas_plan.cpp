#include "probes/backends/cuda/cublas_plan.h"

#include <algorithm>
#include <limits>

#include "core/order_statistics.h"
#include "probes/backends/cuda/cublas_algorithms.h"
#include "probes/backends/cuda/cuda_libraries.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/backends/cuda/matrix_transpose.h"

namespace bench {
namespace {

std::size_t count(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void upload(const DeviceMemory& to, std::span<const std::byte> from) {
  check(cudaMemcpy(to.as<>(), from.data(), from.size(), cudaMemcpyHostToDevice),
        "copy a matrix to the GPU");
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
      a_(count(shape_.m, shape_.k) * element_bytes_),
      b_(count(shape_.k, shape_.n) * element_bytes_),
      c_(count(shape_.m, shape_.n) * size_of(types.output)),
      algorithms_(cublas_algorithms(context.handle, descriptors_, context.workspace_bytes,
                                    std::max(1, request.candidates))) {}

std::string CublasPlan::version() const { return cublas_version(); }

std::string CublasPlan::implementation() const {
  return to_string(configuration_of(algorithms_.at(chosen_)));
}

void CublasPlan::load(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != a_.bytes() || b.size() != b_.bytes())
    throw Error(ErrorKind::internal, "matrices of another size than the product's");
  upload(a_, a);
  if (transposed_b_)
    upload(b_, transposed(b, shape_.k, shape_.n, element_bytes_));
  else
    upload(b_, b);
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

/// The library's own order of its proposals is right nine times in ten.
void CublasPlan::tune() {
  double best = std::numeric_limits<double>::infinity();
  std::size_t fastest = 0;
  for (chosen_ = 0; chosen_ < algorithms_.size(); ++chosen_) {
    const double seconds = seconds_of_chosen();
    if (seconds >= best) continue;
    best = seconds;
    fastest = chosen_;
  }
  chosen_ = fastest;
}

void CublasPlan::run(std::int64_t calls) {
  const cublasLtMatmulAlgo_t& algorithm = algorithms_.at(chosen_);
  for (; calls > 0; --calls)
    check(cublasLtMatmul(context_.handle, descriptors_.operation(), alpha_.data(), b_.as<>(),
                         descriptors_.first(), a_.as<>(), descriptors_.second(), beta_.data(),
                         c_.as<>(), descriptors_.result(), c_.as<>(), descriptors_.result(),
                         &algorithm, context_.workspace, context_.workspace_bytes, context_.stream),
          "cublasLtMatmul");
}

std::vector<std::byte> CublasPlan::result() const {
  std::vector<std::byte> bytes(c_.bytes());
  check(cudaStreamSynchronize(context_.stream), "the product");
  check(cudaMemcpy(bytes.data(), c_.as<>(), bytes.size(), cudaMemcpyDeviceToHost),
        "read the result");
  inject_fault(bytes.data() + size_of(types_.output) - 1);  // sign and exponent, not rounding
  return bytes;
}

}  // namespace bench
