// What arrays that were streamed through must hold, element by element; one text for the GPU, which
// checks them all, and for the host, which checks some to see that the GPU's check works.
#pragma once

#include <cstdint>

#include "probes/device/memory.h"
#include "probes/memory_pattern.h"

namespace bench {

/// One window after its last call: where its elements lie in the pattern, and that call's mark.
struct ExpectedWindow {
  MemoryKernel kernel = MemoryKernel::write;
  std::uint64_t first_b = 0;
  std::uint64_t first_c = 0;
  double mark = 0.0;
};

/// Exact in f64: |pattern| <= 2^31 and marks are below 2^21.
constexpr double expected_element(const ExpectedWindow& window, std::uint64_t i) {
  const double b = pattern(window.first_b + i);
  if (window.kernel == MemoryKernel::write) return window.mark;
  if (window.kernel == MemoryKernel::copy) return b;
  return b + window.mark * pattern(window.first_c + i);
}

/// A number no other of the last million calls had; what write stores and triad multiplies by.
constexpr double call_mark(std::int64_t call) { return static_cast<double>(call & 0xfffff) + 2.0; }

/// How often each window was met in so many calls, the first of them on window 0.
constexpr std::int64_t visits(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return calls / windows + (window < calls % windows ? 1 : 0);
}

/// The last call that met the window; -1 for none.
constexpr std::int64_t last_visit(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return window >= calls ? -1 : calls - 1 - (calls - 1 - window) % windows;
}

}  // namespace bench
