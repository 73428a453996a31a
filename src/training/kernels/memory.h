// Memory of tensors: the host's, or a device's, which the host cannot access through a pointer. All
// access to tensors outside kernels uses this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "training/kernels/view.h"

namespace bench::training {

/// The alignment of every block, and of every tensor in one.
constexpr std::int64_t kAlignment = 256;

class Memory {
 public:
  virtual ~Memory() = default;
  /// Whether the host can access it directly.
  virtual bool on_host() const = 0;
  /// Zeros, aligned to kAlignment, on a host from 4 KiB on to pages. Throws Error(environment),
  /// naming `purpose` and the bytes, if out of memory.
  virtual void* allocate(std::int64_t bytes, const char* purpose) = 0;
  virtual void release(void* data) = 0;
  /// Zeroed host memory for fast copies from and to the device; released by release_staging().
  virtual void* allocate_staging(std::int64_t bytes, const char* purpose) = 0;
  virtual void release_staging(void* data) = 0;
  /// Copies from host memory, in order with kernels. Staging memory may still be read after it
  /// returns: see uploaded().
  virtual void upload(const void* from, void* to, std::int64_t bytes) = 0;
  /// Waits until the copies started by upload() have finished reading.
  virtual void uploaded() = 0;
  /// Copies bytes to host memory after all kernels enqueued before. Throws errors that kernels
  /// detected in the meantime.
  virtual void download(const void* from, void* to, std::int64_t bytes) = 0;
  /// Waits for all kernels; throws the errors they detected.
  virtual void synchronise() = 0;
};

/// The process's memory.
std::shared_ptr<Memory> host_memory();

/// A named tensor, for checkpoints and checks.
struct NamedView {
  std::string name;
  View view;
  Memory* memory = nullptr;  // null: host memory
};

/// Memory of one arena: aligned, and zero at first.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws like Memory::allocate().
  MemoryBlock(std::int64_t bytes, const char* purpose,
              std::shared_ptr<Memory> memory = host_memory());
  /// Staging memory for `memory`.
  static MemoryBlock staging(std::int64_t bytes, const char* purpose,
                             std::shared_ptr<Memory> memory);

  std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_ = {};  // its deleter owns the Memory
  std::int64_t bytes_ = 0;
};

}  // namespace bench::training
