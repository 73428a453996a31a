// Memory of tensors: the host's, or that of a device, which the host cannot read through a
// pointer. All access to tensors outside kernels uses this interface.
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
  /// Whether views of it can be read and written as they are.
  virtual bool on_host() const = 0;
  /// Zeros, aligned to kAlignment. Throws Error(environment) naming `purpose` and the bytes where
  /// there is not so much.
  virtual void* allocate(std::int64_t bytes, const char* purpose) = 0;
  virtual void release(void* data) = 0;
  /// Host memory that copies from and to the device are fast from, zeroed; released by
  /// release_staging().
  virtual void* allocate_staging(std::int64_t bytes, const char* purpose) = 0;
  virtual void release_staging(void* data) = 0;
  /// Bytes from host memory to this, in the order of what kernels do. Only `from` that is staging
  /// may still be read when it returns: see uploaded().
  virtual void upload(const void* from, void* to, std::int64_t bytes) = 0;
  /// Waits until the copies that upload() started have been made: what they read may be written.
  virtual void uploaded() = 0;
  /// Copies bytes to host memory after all kernels enqueued before. Throws errors that kernels
  /// detected in the meantime.
  virtual void download(const void* from, void* to, std::int64_t bytes) = 0;
  /// Waits for all kernels; throws the errors they detected.
  virtual void synchronise() = 0;
};

/// The process's own.
std::shared_ptr<Memory> host_memory();

// A named tensor, for checkpoints and checks.

struct NamedView {
  std::string name;
  View view;
  Memory* memory = nullptr;  // null: host memory
};

// Memory of one arena: aligned, and zero at first.

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws Error(environment) naming `purpose` and the bytes where there is not so much.
  MemoryBlock(std::int64_t bytes, const char* purpose,
              std::shared_ptr<Memory> memory = host_memory());
  /// Host memory from which `memory` is uploaded to fast.
  static MemoryBlock staging(std::int64_t bytes, const char* purpose,
                             std::shared_ptr<Memory> memory);

  std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_ = {};  // its deleter keeps the memory's owner
  std::int64_t bytes_ = 0;
};

}  // namespace bench::training
