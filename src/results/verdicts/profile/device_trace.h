// What other profilers recorded of one process with a GPU or without: work on devices, the calls
// that launched it, operations of a framework, steps. Times are seconds since the first event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

enum class DeviceWorkKind { compute, communication, memory };

/// A kernel, a copy or a fill.
struct DeviceWork {
  int name = 0;  // of DeviceTrace::names
  DeviceWorkKind kind = DeviceWorkKind::compute;
  int device = 0;
  std::int64_t stream = 0;
  std::int64_t correlation = -1;  // with the call that launched it; -1: unknown
  double begin = 0.0, end = 0.0;
};

/// A call of the CUDA or HIP runtime or driver.
struct DeviceCall {
  double begin = 0.0, end = 0.0;
};

/// An operation of a framework on the host, such as aten::mm; they nest.
struct HostOperation {
  int name = 0;
  std::int64_t thread = 0;
  double begin = 0.0, end = 0.0;
};

struct TraceStep {
  std::int64_t number = 0;
  double begin = 0.0, end = 0.0;
};

struct DeviceTrace {
  std::string file;
  std::optional<int> rank = {};
  std::vector<std::string> names = {};
  std::vector<DeviceWork> work = {};
  std::map<std::int64_t, DeviceCall> calls = {};  // by correlation
  std::vector<HostOperation> operations = {};
  std::vector<HostOperation> loading = {};  // waits for batches of a data loader
  std::vector<TraceStep> steps = {};        // in order
};

/// By the kernel's name: NCCL's, RCCL's and NVSHMEM's communicate.
DeviceWorkKind kind_of_kernel(const std::string& name);

/// Gives each name its number in a trace while the trace is read.
class TraceNames {
 public:
  int number_of(const std::string& name, DeviceTrace& trace);

 private:
  std::map<std::string, int> numbers_ = {};
};

}  // namespace bench
