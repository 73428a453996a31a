#include "training/parallel/compressor.h"

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

}  // namespace bench::training
