#include "training/parallel/compressor.h"

#include <algorithm>

#include "core/error.h"
#include "training/parallel/power_sgd.h"
#include "training/parallel/top_k.h"

namespace bench::training {

std::unique_ptr<Compressor> make_compressor(const ExchangeMethod& method,
                                            const CompressorPlace& place,
                                            const std::vector<RowTensor>& tensors, Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f64)
    throw Error(ErrorKind::input,
                "gradients of " + std::string(to_string(dtype)) + " cannot be compressed",
                "train in f32 or f64");
  if (method.kind == ExchangeKind::topk)
    return std::make_unique<TopK>(method, place, tensors, dtype);
  return std::make_unique<PowerSgd>(method, place, tensors, dtype);
}

std::int64_t compressor_bytes(const ExchangeMethod& method, const std::vector<RowTensor>& tensors,
                              Dtype dtype, int ranks, int threads) {
  if (!method.compresses()) return 0;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  std::int64_t row = 0, sent = 0, factors = 0, most = 0;
  for (const RowTensor& tensor : tensors) {
    row = std::max(row, tensor.first + tensor.elements());
    sent += sent_elements(method, tensor.elements());
    const std::int64_t rank = factor_rank(method, tensor);
    factors += rank > 0 ? rank * (tensor.rows + tensor.columns) : tensor.elements();
    most = std::max(most, rank * tensor.rows);
  }
  if (method.kind == ExchangeKind::powersgd)
    return factors * size + threads * most * static_cast<std::int64_t>(sizeof(double));
  return row * size + (ranks + 1) * sent * (size + static_cast<std::int64_t>(sizeof(std::int32_t)));
}

}  // namespace bench::training
