// Matrix products C = A B by the libraries of a device. Matrices are row major and dense: A is m x
// k, B is k x n, C is m x n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/json.h"
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
  std::string library = "best";    // or onednn, openblas, ..., or the name of one found at run time
  std::string isa = "best";        // or the only instruction set the library may use: avx512, ...
  bool packed = true;              // B is converted to the library's layout beforehand
  bool fast_accumulation = false;  // fp8: accumulate in fewer bits, if supported
  int candidates = 1;              // number of algorithms for tune()
  bool rotate = true;  // device memory: consecutive calls use different copies of the matrices
};

/// Whether fp8 sums may be accumulated in fewer bits.
inline bool accumulates_fast(const GemmRequest& request) {
  const bool fp8 = request.dtype == Dtype::fp8_e4m3 || request.dtype == Dtype::fp8_e5m2;
  return fp8 && request.fast_accumulation;
}

/// Scales of mxfp8 and nvfp4, one per block of elements along k (core/block_scaled.h).
struct BlockScales {
  std::vector<std::byte> a;  // m rows of k / block
  std::vector<std::byte> b;  // k / block rows of n
  float tensor = 1.0f;       // product of those of A and B
};

/// A prepared product. Its threads are pinned during its lifetime.
class GemmPlan {
 public:
  virtual ~GemmPlan() = default;
  virtual std::string library() const = 0;  // "onednn"
  /// Of the library, as in the facts of the program; "" if unknown.
  virtual std::string version() const { return ""; }
  /// As named by the library. Chip, library, version and implementation determine every bit of a
  /// product.
  virtual std::string implementation() const = 0;
  /// The instruction set reported by the library; "" if not reported.
  virtual std::string isa() const = 0;
  virtual bool packed() const = 0;
  virtual Dtype output() const = 0;  // of C: f64, f32, bf16, f16, int32
  /// Loads A and B (int8: A as unsigned bytes) and packs B if requested.
  virtual void load(std::span<const std::byte> a, std::span<const std::byte> b) = 0;
  /// Loads the scales of the loaded matrices, for block-scaled types.
  virtual void scale(const BlockScales&) {}
  /// Times the candidates on the loaded data and keeps the fastest. Load other data afterwards: a
  /// choice must not be judged by the samples it was made on.
  virtual void tune() {}
  /// Fills C with 0xff bytes, so that elements never written are detected.
  virtual void clear() = 0;
  /// The timed work: the product, `calls` times.
  virtual void run(std::int64_t calls) = 0;
  virtual std::vector<std::byte> result() const = 0;
  /// Begins to compare each product on the device with the last one, bit for bit: false if this
  /// device cannot, or not for this shape. The comparison is part of the timed work.
  virtual bool watch() { return false; }
  /// How many products since watch() were different; one more if the device itself reads the
  /// watched one otherwise than the host.
  virtual std::int64_t different() { return 0; }
  /// The clock of the calling thread's core under this load. Call it directly after run().
  virtual std::optional<Hertz> clock() = 0;
  /// The smallest share of a core that any thread just got; see Measurement. Call it directly after
  /// run().
  virtual std::optional<double> core_share() { return {}; }
};

/// A plan, or the reason why it is not possible.
struct GemmOffer {
  std::unique_ptr<GemmPlan> plan;
  std::string reason;
};

class Gemm {
 public:
  virtual ~Gemm() = default;
  /// The chip, for bit-exact comparisons between equal ones: a product name and the parts of it in
  /// use, not a serial number; "" if unknown.
  virtual std::string chip() const { return ""; }
  /// Throws Error(input) for more threads than cores.
  virtual GemmOffer prepare(const GemmRequest& request) = 0;
  /// The libraries that were tried so far where several could serve a request: for each kind of
  /// request {"dtype", "threads", "isa", "packed", "library", "cpu_isa", "libraries": [{"library",
  /// "version", "isa", "flops", "chosen"}, without "flops" and with "wrong" if its result was
  /// wrong, or {"reason"}]}, flops a second of a GEMM of size 512.
  virtual Json trials() const { return Json::array(); }
  /// Why libraries that this machine has could not be loaded, so far.
  virtual Json problems() const { return Json::array(); }
};

}  // namespace bench
