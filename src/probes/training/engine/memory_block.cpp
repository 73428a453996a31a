#include "probes/training/engine/memory_block.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/error.h"
#include "probes/training/engine/plan.h"

namespace bench::training {

MemoryBlock::MemoryBlock(std::int64_t bytes, const char* purpose) : bytes_(bytes) {
  const auto size = static_cast<std::size_t>(std::max(bytes, kAlignment));
  const std::size_t unit = kAlignment;
  const std::size_t whole = (size + unit - 1) / unit * unit;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, whole)));
  if (!data_)
    throw Error(ErrorKind::environment,
                "no memory for " + std::to_string(bytes) + " bytes of " + purpose,
                "a smaller preset or micro-batch needs less");
  std::memset(data_.get(), 0, whole);
}

}  // namespace bench::training
