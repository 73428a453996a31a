// The sizes of a tensor, outermost first, all known before a step runs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace bench::training {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t size : sizes_) n *= size;
    return n;
  }
  /// The innermost size; 1 for a scalar.
  std::int64_t columns() const { return sizes_.empty() ? 1 : sizes_.back(); }
  std::int64_t rows() const { return columns() == 0 ? 0 : elements() / columns(); }
  /// "[2048, 64]"
  std::string text() const;
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace bench::training
