// A tensor's bytes in host memory: the tensor itself where it lies there, else a copy.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "probes/training/engine/named_view.h"

namespace bench::training {

/// How many there are.
inline std::size_t byte_count(const NamedView& tensor) {
  return static_cast<std::size_t>(tensor.view.elements()) * size_of(tensor.view.dtype);
}

class HostBytes {
 public:
  /// Of a tensor in a device's memory with what it holds now, or zeros where all of them are to be
  /// written.
  enum class Holds { contents, zeros };
  explicit HostBytes(const NamedView& tensor, Holds holds = Holds::contents);
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;

  std::span<std::byte> all() const { return bytes_; }
  /// They become the tensor's.
  void write_back() const;

 private:
  bool is_copy() const { return tensor_.memory != nullptr && !tensor_.memory->on_host(); }

  NamedView tensor_;
  std::vector<std::byte> copy_ = {};
  std::span<std::byte> bytes_ = {};
};

}  // namespace bench::training
