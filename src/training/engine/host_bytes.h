// A tensor's bytes in host memory: the tensor itself if it is there, else a copy.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "training/kernels/memory.h"

namespace bench::training {

/// Size of the tensor in bytes.
inline std::size_t byte_count(const NamedView& tensor) {
  return static_cast<std::size_t>(tensor.view.elements()) * size_of(tensor.view.dtype);
}

class HostBytes {
 public:
  /// For a tensor in device memory: copy its contents, or start with zeros if all bytes will be
  /// written.
  enum class Holds { contents, zeros };
  explicit HostBytes(const NamedView& tensor, Holds holds = Holds::contents);
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;

  std::span<std::byte> all() const { return bytes_; }
  /// Copies the bytes back to the tensor.
  void write_back() const;

 private:
  bool is_copy() const { return tensor_.memory != nullptr && !tensor_.memory->on_host(); }

  NamedView tensor_;
  std::vector<std::byte> copy_ = {};
  std::span<std::byte> bytes_ = {};
};

}  // namespace bench::training
