#include "probes/backends/host/gemm_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "core/error.h"

namespace bench {

namespace {
// Where the huge page is another size (64 KiB base pages: 512 MiB) the advice is simply not taken.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}  // namespace

MatrixMemory::MatrixMemory(std::size_t bytes)
    : size_(bytes), mapped_((bytes + 2 * kHugePage - 1) / kHugePage * kHugePage) {
  void* mapped = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw_errno("get " + std::to_string(mapped_) + " bytes for a matrix",
                "use a smaller shape");
  data_ = static_cast<std::byte*>(mapped);
  madvise(data_, mapped_, MADV_HUGEPAGE);  // a kernel without huge pages says no, which is fine
  std::memset(data_, 0, mapped_);
}

MatrixMemory::MatrixMemory(MatrixMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

MatrixMemory::~MatrixMemory() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

}  // namespace bench
