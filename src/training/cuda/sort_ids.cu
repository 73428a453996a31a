#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "devices/cuda/cuda_error.h"
#include "training/cuda/device_context.h"

namespace bench::training {
namespace {

__global__ void number_kernel(const std::int32_t* ids, std::int64_t count, std::int64_t first,
                              std::int32_t table_rows, std::int32_t* keys,
                              std::int32_t* positions) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t row = ids[i] - first;
  keys[i] = row < 0 || row >= table_rows ? table_rows : static_cast<std::int32_t>(row);
  positions[i] = static_cast<std::int32_t>(i);
}

std::int64_t whole(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

std::pair<const std::int32_t*, const std::int32_t*> sort_ids(DeviceContext& context,
                                                             const std::int32_t* ids,
                                                             std::int64_t count, std::int64_t first,
                                                             std::int64_t table_rows) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(table_rows));
  const auto items = static_cast<int>(count);
  std::int32_t* none = nullptr;
  std::size_t temporary = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, temporary, none, none, none, none, items, 0, bits,
                                        context.stream()),
        "query sort workspace");
  const std::int64_t row = whole(count * std::int64_t{sizeof(std::int32_t)});
  auto* memory =
      static_cast<std::byte*>(context.sort_scratch(4 * row + static_cast<std::int64_t>(temporary)));
  const auto part = [&](int i) { return reinterpret_cast<std::int32_t*>(memory + i * row); };
  number_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, context.stream()>>>(
      ids, count, first, static_cast<std::int32_t>(table_rows), part(0), part(1));
  check_launch("ID numbering");
  check(cub::DeviceRadixSort::SortPairs(memory + 4 * row, temporary, part(0), part(2), part(1),
                                        part(3), items, 0, bits, context.stream()),
        "sort IDs");
  return {part(2), part(3)};
}

}  // namespace bench::training
