// The arithmetic instructions of a device's cores, each as a stream that nothing but the
// instruction itself limits: the ceiling of every compute-bound program. And chains of instructions
// that need one another, whose length in cycles is known: they tell the clock.
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

/// One kind of multiply-add instruction that this machine has.
struct InstructionStream {
  Dtype dtype = Dtype::f32;     // of the factors; sums are f32 for bf16 and int32 for int8
  std::string isa;              // family: avx2, avx512, amx, neon; a gemm can be pinned to one
  std::string instruction;      // "vfmadd231ps zmm"
  double ops = 0.0;             // per instruction; a multiply-add counts two
  double most_per_cycle = 0.0;  // instructions; no core of this kind starts more
};

/// Instructions that each need the result of the one before.
struct ClockChain {
  std::string name;     // "add", "multiply"
  double cycles = 0.0;  // from one step to the next
};

/// A stream or chain made ready on some threads. Those threads are pinned as long as it lives.
class InstructionRun {
 public:
  virtual ~InstructionRun() = default;
  /// The timed work, on every thread: `calls` times a fixed piece of some ten microseconds.
  virtual void run(std::int64_t calls) = 0;
  /// Operations (stream) or cycles (chain) in one call, of one thread.
  virtual double per_call() const = 0;
  /// Whether the sums the last run() left in the registers are the ones so many steps must give.
  virtual Check verify() = 0;
  /// The clock of the calling thread's core under this load. Call it right after run().
  virtual std::optional<Hertz> clock() = 0;
  /// The smallest share of a core that any of the threads got just now; see Measurement.
  virtual std::optional<double> core_share() { return {}; }
};

class Instructions {
 public:
  virtual ~Instructions() = default;
  virtual const std::vector<InstructionStream>& streams() const = 0;
  virtual const std::vector<ClockChain>& chains() const = 0;
  /// Throws Error(input) for more threads than cores.
  virtual std::unique_ptr<InstructionRun> prepare_stream(std::size_t stream, int threads) = 0;
  /// Operations of a stream in one cycle of one core, as measured: the clock is read from a chain
  /// right behind each of many short windows. Nothing where no such clock can be had.
  virtual std::optional<double> operations_per_cycle(std::size_t stream) = 0;
  virtual std::unique_ptr<InstructionRun> prepare_chain(std::size_t chain, int threads) = 0;
  /// The highest clock the system says the cores may take; nothing where it does not say.
  virtual std::optional<Hertz> highest_clock() const = 0;
};

}  // namespace bench
