// Matrix products C = A B as a device's libraries do them. Matrices are row major and dense:
// A is m x k, B is k x n, C is m x n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/units.h"

namespace bench {

struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

struct GemmRequest {
  Dtype dtype = Dtype::f32;  // of A and B; int8: A is unsigned, B signed
  GemmShape shape;
  int threads = 1;
  std::string library = "best";  // or onednn, openblas, ...
  std::string isa = "best";      // or the only instruction family the library may use: avx512, ...
  bool packed = true;            // B is brought into the library's own layout beforehand
  bool fast_accumulation = false;  // fp8: keep sums in fewer bits, where the chip can
  int candidates = 1;              // algorithms that tune() may choose from
  bool rotate = true;  // a device's own memory: calls in a row on other copies of the matrices
};

/// Whether the request is for one of those that may keep their sums in fewer bits.
inline bool accumulates_fast(const GemmRequest& request) {
  const bool fp8 = request.dtype == Dtype::fp8_e4m3 || request.dtype == Dtype::fp8_e5m2;
  return fp8 && request.fast_accumulation;
}

/// The scales of mxfp8 and nvfp4, one for each block of elements along k (core/block_scaled.h).
struct BlockScales {
  std::vector<std::byte> a;  // m rows of k / block
  std::vector<std::byte> b;  // k / block rows of n
  float tensor = 1.0f;       // of A times that of B
};

/// One product made ready on some threads. Those threads are pinned as long as it lives.
class GemmPlan {
 public:
  virtual ~GemmPlan() = default;
  virtual std::string library() const = 0;  // "onednn"
  /// Of the library, in the words of the program's facts; "" where it does not tell.
  virtual std::string version() const { return ""; }
  /// In the library's words. With chip, library and version it decides every bit of a product.
  virtual std::string implementation() const = 0;
  /// The instruction family the library says it uses; "" where it does not say.
  virtual std::string isa() const = 0;
  virtual bool packed() const = 0;
  virtual Dtype output() const = 0;  // of C: f64, f32, bf16, f16, int32
  /// Takes over the elements of A and B (int8: A as unsigned bytes) and packs where it should.
  virtual void load(std::span<const std::byte> a, std::span<const std::byte> b) = 0;
  /// Takes over the scales that belong to what was loaded; only block-scaled products have some.
  virtual void scale(const BlockScales&) {}
  /// Times the candidates on what is loaded and keeps the fastest. Load other data afterwards: a
  /// choice is not to be judged by the samples it was made on.
  virtual void tune() {}
  /// Fills C with bytes 0xff, so that an element nobody wrote is found.
  virtual void clear() = 0;
  /// The timed work: the product, `calls` times.
  virtual void run(std::int64_t calls) = 0;
  virtual std::vector<std::byte> result() const = 0;
  /// The clock of the calling thread's core under this load. Call it right after run().
  virtual std::optional<Hertz> clock() = 0;
  /// The smallest share of a core that any of the threads got just now; see Measurement. Call it
  /// right after run().
  virtual std::optional<double> core_share() { return {}; }
};

/// A plan, or why there is none.
struct GemmOffer {
  std::unique_ptr<GemmPlan> plan;
  std::string reason;
};

class Gemm {
 public:
  virtual ~Gemm() = default;
  /// What does the arithmetic, so that equal ones can be compared bit for bit: a product's name and
  /// what of it is in use, never a single part's; "" where nobody tells.
  virtual std::string chip() const { return ""; }
  /// Throws Error(input) for more threads than cores.
  virtual GemmOffer prepare(const GemmRequest& request) = 0;
};

}  // namespace bench
