#include "probes/backends/cuda/host_buffer.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/elements.h"
#include "probes/backends/cuda/cuda_error.h"

namespace bench {
namespace {

/// mbind() of the kernel; libnuma would be one more library for one call.
void bind_to_node(void* data, std::size_t bytes, int node) {
  constexpr int kBind = 2;  // MPOL_BIND
  constexpr std::size_t kNodes = 1024, kWordBits = 64;
  std::array<unsigned long, kNodes / kWordBits> mask{};
  const auto bit = static_cast<std::size_t>(node);
  if (node < 0 || bit >= kNodes)
    throw Error(ErrorKind::input, "no NUMA node " + std::to_string(node));
  mask[bit / kWordBits] = 1ul << (bit % kWordBits);
  if (syscall(SYS_mbind, data, bytes, kBind, mask.data(), kNodes, 0) != 0)
    throw MemoryRefused("cannot bind memory to NUMA node " + std::to_string(node) + ": " +
                        std::strerror(errno));
}

}  // namespace

HostBuffer::HostBuffer(std::size_t bytes, HostMemory kind, std::optional<int> numa_node)
    : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw_errno("get " + std::to_string(bytes) + " bytes of host memory");
  try {
    if (numa_node) bind_to_node(data_, bytes_, *numa_node);
    std::memset(data_, 0xff, bytes_);
    if (kind == HostMemory::pinned) {
      check(cudaHostRegister(data_, bytes_, cudaHostRegisterPortable), "page-lock host memory");
      locked_ = true;
    }
  } catch (...) {
    unmap();
    throw;
  }
}

HostBuffer::~HostBuffer() { unmap(); }

void HostBuffer::unmap() {
  if (locked_) cudaHostUnregister(data_);
  munmap(data_, bytes_);
}

std::span<std::uint64_t> HostBuffer::words() const {
  return {static_cast<std::uint64_t*>(data_), bytes_ / sizeof(std::uint64_t)};
}

void fill_words(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(seed, i);
}

double count_wrong_words(std::span<const std::uint64_t> words, std::uint64_t seed) {
  double wrong = 0.0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != random_bits(seed, i)) ++wrong;
  return wrong;
}

}  // namespace bench
