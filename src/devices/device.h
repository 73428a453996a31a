// What a procedure may ask of the thing it measures. Device itself is small; what it can do comes
// as capabilities (devices/*.h), each null where the device has none of it: a procedure then
// calls state.skip. Implementations: backends/host, backends/cuda, and the fakes in tests/support.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"

namespace bench {

// Which libraries this program measures with, and their versions: a number means little without
// them.

/// {"onednn": "2.6.3", "openblas": "OpenBLAS 0.3.21 ...", "hwloc": "2.9.0"}; null for one left out
/// at build.
Json host_library_versions();

class Collectives;
class Copies;
class Group;
class Instructions;
class Launches;
class MemoryArrays;
class MemorySystem;
class Gemm;
class Topology;
class TrainingKernels;

/// CPU time of a whole machine since some moment, over all its cores, as its kernel counts it.
struct MachineTime {
  double busy_s = 0.0;  // in programs and in the kernel on their behalf; not interrupts, not steal
  double all_s = 0.0;   // idle time too
  double tick_s = 0.0;  // the grain of both
};

/// Time that measuring threads lost to somebody else.
class ThreadWatch {
 public:
  virtual ~ThreadWatch() = default;
  virtual void start() = 0;
  /// The largest loss of any one measuring thread since start().
  virtual Seconds lost() = 0;
  /// CPU time of all threads of this process so far.
  virtual Seconds cpu_time() = 0;
  /// Of everything that runs on this machine; nothing where the kernel does not tell.
  virtual std::optional<MachineTime> machine_time() = 0;
};

/// Something that the device's driver reported of the device itself: NVIDIA's Xid.
struct DeviceFault {
  int code = 0;
  std::string text;
  bool fatal = false;  // what the device computes from then on is not to be believed
};

/// As good as no bound on the calls of one piece.
inline constexpr std::int64_t kAnyNumberOfCalls = std::int64_t{1} << 40;

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string kind() const = 0;  // "host", "cuda"
  virtual std::string id() const = 0;    // "cpu"; a GPU's UUID
  /// Why this device cannot be used ("no device", an old driver): its jobs are skipped with that
  /// reason. "" when it can.
  virtual std::string absent() const { return ""; }
  /// Why a device that is there cannot be used: its jobs fail with that reason.
  virtual std::string broken() const { return ""; }
  /// A steady clock, in seconds since some moment: how long parts of a job take.
  virtual Seconds now() = 0;
  /// How long the device was at work for one piece of `calls` calls. A GPU's is timed by events on
  /// its own stream, so that what the host needs to enqueue the calls is not in it. `meet` is
  /// called when the device is about to begin: ranks that meet there begin together.
  virtual Seconds timed(const std::function<void()>& piece, std::int64_t calls,
                        const std::function<void()>& meet = {});
  /// More calls in one piece would be timed as fast as the host can enqueue them.
  virtual std::int64_t most_calls() const { return kAnyNumberOfCalls; }
  /// Does a piece without timing it; when it returns, what the piece started has ended.
  virtual void untimed(const std::function<void()>& piece) { piece(); }
  /// The clock the device runs at just now, measured; nothing where it cannot be known.
  virtual std::optional<Hertz> clock() = 0;
  /// Whether a clock that moves is a sign of trouble. A GPU at its power limit moves it all the
  /// time: that is kept alongside the samples and filters none.
  virtual bool steady_clock() const { return true; }
  /// What holds its clock down just now, as SampleFlag bits (core/record.h): kThermal for heat and
  /// for what the hardware does to protect itself, kPowerCapped.
  virtual unsigned slowdown() { return 0; }
  /// Whether nothing it is asked will be answered any more in this process: after an illegal
  /// access, say. Asked after a failure.
  virtual bool lost() { return false; }
  /// What its driver reported since the last call.
  virtual std::vector<DeviceFault> faults() { return {}; }
  virtual ThreadWatch& watch() = 0;
  /// What tells its product and its limits: name, memory_bytes, multiprocessors, clock_hz, ...;
  /// null where nothing does.
  virtual Json facts() { return {}; }
  /// Cores (one hardware thread each) this rank may use; 1 for a GPU.
  virtual int cores() const = 0;

  virtual Instructions* instructions() { return nullptr; }
  virtual MemorySystem* memory() { return nullptr; }
  virtual Gemm* gemm() { return nullptr; }
  virtual Topology* topology() { return nullptr; }
  virtual Copies* copies() { return nullptr; }
  /// Operations over the group on this device's memory; every rank asks alike. The group's own for
  /// a device whose memory is the host's.
  virtual Collectives* collectives(Group& group);
  virtual Launches* launches() { return nullptr; }
  virtual TrainingKernels* training_kernels() { return nullptr; }
};

/// Makes a device's kernels for training when they are first asked for. They are built on devices,
/// so the program that knows both brings them; a device without a maker has none.
using MakeTrainingKernels = std::function<std::shared_ptr<TrainingKernels>()>;

}  // namespace bench
