// Borrowed pixels, and parts of an image.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench::training {

struct ImageSize {
  int width = 0;
  int height = 0;
};

struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Borrowed pixels of four bytes: red, green, blue, unused.
struct Picture {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  // bytes from one row to the next
  int width = 0;
  int height = 0;

  const std::uint8_t* row(int y) const { return pixels + static_cast<std::size_t>(y) * stride; }
};

}  // namespace bench::training
