// Memory for matrices: aligned, on transparent huge pages where the kernel gives them, and touched,
// so that a product is not timed waiting for pages.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

class MatrixMemory {
 public:
  /// Zeroed. Throws Error(environment) when there is not enough memory.
  explicit MatrixMemory(std::size_t bytes);
  ~MatrixMemory();
  MatrixMemory(MatrixMemory&& other) noexcept;
  MatrixMemory& operator=(MatrixMemory&&) = delete;
  MatrixMemory(const MatrixMemory&) = delete;
  MatrixMemory& operator=(const MatrixMemory&) = delete;

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace bench
