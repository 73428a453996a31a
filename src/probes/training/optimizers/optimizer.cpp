#include "probes/training/optimizers/optimizer.h"

#include <utility>

namespace bench::training {

StateArray master_weights(std::int64_t elements, Dtype dtype, std::shared_ptr<Memory> memory) {
  if (!is_narrow(dtype)) return {};
  return {elements, accumulator_of(dtype), "master weights", std::move(memory)};
}

}  // namespace bench::training
