// A device under test. Device itself is small; its capabilities are separate interfaces
// (devices/*.h), null if the device lacks them: a procedure then calls state.skip.
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

/// Libraries used for measurements: {"onednn": "2.6.3", "openblas": "OpenBLAS 0.3.21 ...", "hwloc":
/// "2.9.0"}; null for one that is not compiled in.
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

/// CPU time of a whole machine over all cores, as counted by the kernel.
struct MachineTime {
  double busy_s = 0.0;  // in programs and in the kernel on their behalf; not interrupts, not steal
  double all_s = 0.0;   // idle time too
  double tick_s = 0.0;  // resolution of both
};

/// Time that other processes took from measuring threads.
class ThreadWatch {
 public:
  virtual ~ThreadWatch() = default;
  virtual void start() = 0;
  /// The largest loss of any measuring thread since start().
  virtual Seconds lost() = 0;
  /// CPU time of this process so far.
  virtual Seconds cpu_time() = 0;
  /// Nothing if the kernel does not report it.
  virtual std::optional<MachineTime> machine_time() = 0;
};

/// An error reported by the device's driver, such as NVIDIA's Xid.
struct DeviceFault {
  int code = 0;
  std::string text;
  bool fatal = false;  // later results of the device are not trustworthy
};

inline constexpr std::int64_t kAnyNumberOfCalls = std::int64_t{1} << 40;

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string kind() const = 0;  // "host", "cuda"
  virtual std::string id() const = 0;    // "cpu"; a GPU's UUID
  /// Why this device does not exist here ("no device", an old driver): its jobs are skipped with
  /// that reason. "" if it does.
  virtual std::string absent() const { return ""; }
  /// Why an existing device cannot be used: its jobs fail with that reason.
  virtual std::string broken() const { return ""; }
  /// Steady clock.
  virtual Seconds now() = 0;
  /// Duration of one piece of `calls` calls on the device. A GPU is timed by events on its stream,
  /// excluding the host's enqueueing. `meet` is called when the device is about to begin, to start
  /// all ranks together.
  virtual Seconds timed(const std::function<void()>& piece, std::int64_t calls,
                        const std::function<void()>& meet = {});
  /// With more calls, a piece would be limited by how fast the host can enqueue.
  virtual std::int64_t most_calls() const { return kAnyNumberOfCalls; }
  /// Runs a piece to completion without timing it.
  virtual void untimed(const std::function<void()>& piece) { piece(); }
  /// The current device clock, measured; nothing if unknown.
  virtual std::optional<Hertz> clock() = 0;
  /// Whether clock changes indicate trouble. A GPU at its power limit changes its clock all the
  /// time, so its clock does not filter samples.
  virtual bool steady_clock() const { return true; }
  /// Current clock throttling as SampleFlag bits (core/record.h): kThermal (also for hardware
  /// protection) and kPowerCapped.
  virtual unsigned slowdown() { return 0; }
  /// Whether the device is unusable for the rest of this process, for example after an illegal
  /// access. Checked after a failure.
  virtual bool lost() { return false; }
  /// Reported by the driver since the last call.
  virtual std::vector<DeviceFault> faults() { return {}; }
  virtual ThreadWatch& watch() = 0;
  /// Identifies product and limits: name, memory_bytes, multiprocessors, clock_hz, ...; null if
  /// unknown.
  virtual Json facts() { return {}; }
  /// Cores (one hardware thread each) this rank may use; 1 for a GPU.
  virtual int cores() const = 0;

  virtual Instructions* instructions() { return nullptr; }
  virtual MemorySystem* memory() { return nullptr; }
  virtual Gemm* gemm() { return nullptr; }
  virtual Topology* topology() { return nullptr; }
  virtual Copies* copies() { return nullptr; }
  /// Collectives over the group on this device's memory; called by every rank alike. By default
  /// those of the group, for host memory.
  virtual Collectives* collectives(Group& group);
  virtual Launches* launches() { return nullptr; }
  virtual TrainingKernels* training_kernels() { return nullptr; }
};

/// Creates the training kernels of a device on first use. They depend on the devices, so the
/// program that knows both supplies them.
using MakeTrainingKernels = std::function<std::shared_ptr<TrainingKernels>()>;

}  // namespace bench
