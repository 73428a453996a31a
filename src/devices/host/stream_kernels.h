// Memory bandwidth loops for the widest vectors of this processor. Pointers are aligned to 64
// bytes, n is a multiple of 8 elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

struct StreamKernels {
  using Read = double (*)(const double* b, std::size_t n);
  using Write = void (*)(double* a, double value, std::size_t n);
  using Copy = void (*)(double* a, const double* b, std::size_t n);
  using Fill = void (*)(double* a, std::uint64_t first, std::size_t n);
  using Triad = void (*)(double* a, const double* b, const double* c, double s, std::size_t n);

  const char* instructions = "";
  bool nontemporal = false;  // false: the *_nontemporal ones are plain
  Read read = nullptr;       // the sum, exact if partial sums are below 2^53
  Write write = nullptr;
  Write write_nontemporal = nullptr;
  Copy copy = nullptr;
  Copy copy_nontemporal = nullptr;
  Triad triad = nullptr;
  Triad triad_nontemporal = nullptr;
  Fill fill = nullptr;  // a[i] = pattern(first + i)
};

/// The best of available_stream_kernels().
const StreamKernels& stream_kernels();

/// Those supported by this processor, best first; the last is plain C++.
std::vector<const StreamKernels*> available_stream_kernels();

// One per vector extension, each in the file compiled for it; null if not in this build.
const StreamKernels* avx512_stream_kernels();
const StreamKernels* avx2_stream_kernels();
const StreamKernels* sse2_stream_kernels();
const StreamKernels* neon_stream_kernels();

}  // namespace bench
