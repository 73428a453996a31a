// Streams of independent arithmetic instructions, which give the ceiling of every compute-bound
// program, and chains of dependent ones with known latency, which give the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/record.h"
#include "core/units.h"

namespace bench {

/// A kind of multiply-add instruction available on this machine.
struct InstructionStream {
  Dtype dtype = Dtype::f32;     // of the factors; sums are f32 for bf16 and int32 for int8
  std::string isa;              // avx2, avx512, amx, neon; a gemm can be restricted to one
  std::string instruction;      // "vfmadd231ps zmm"
  double ops = 0.0;             // per instruction; a multiply-add counts two
  double most_per_cycle = 0.0;  // instructions; upper bound for this kind of core
  /// Whether that bound is documented for this CPU model; else it is only the most of any similar
  /// core, and no proof.
  bool bound_is_known = true;
  /// A hypervisor named the model: a rate that a core can have, above the bound, refutes the name
  /// and not the measurement.
  bool model_is_assigned = false;
};

/// Instructions that each depend on the previous one.
struct ClockChain {
  std::string name;     // "add", "multiply"
  double cycles = 0.0;  // from one step to the next
};

/// A prepared stream or chain. Its threads are pinned during its lifetime.
class InstructionRun {
 public:
  virtual ~InstructionRun() = default;
  /// The timed work: `calls` times a piece of about ten microseconds on every thread.
  virtual void run(std::int64_t calls) = 0;
  /// Operations (stream) or cycles (chain) per call and thread.
  virtual double per_call() const = 0;
  /// Whether the last run() left the expected sums in the registers.
  virtual Check verify() = 0;
  /// The clock of the calling thread's core under this load. Call it directly after run().
  virtual std::optional<Hertz> clock() = 0;
  /// The smallest share of a core that any thread just got; see Measurement.
  virtual std::optional<double> core_share() { return {}; }
};

class Instructions {
 public:
  virtual ~Instructions() = default;
  virtual const std::vector<InstructionStream>& streams() const = 0;
  virtual const std::vector<ClockChain>& chains() const = 0;
  /// Throws Error(input) for more threads than cores.
  virtual std::unique_ptr<InstructionRun> prepare_stream(std::size_t stream, int threads) = 0;
  /// Measured operations per cycle and core: a chain measures the clock directly after each of many
  /// short windows. Nothing if the clock cannot be measured.
  virtual std::optional<double> operations_per_cycle(std::size_t stream) = 0;
  virtual std::unique_ptr<InstructionRun> prepare_chain(std::size_t chain, int threads) = 0;
  /// As reported by the system; nothing if not reported.
  virtual std::optional<Hertz> highest_clock() const = 0;
};

}  // namespace bench
