// A device whose clock is turned by hand and whose threads lose as much time as the test says, so
// that the measuring rules can be tested without waiting and without luck.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device.h"
#include "probes/state.h"

namespace bench {

class FakeWatch final : public ThreadWatch {
 public:
  void start() override {}
  Seconds lost() override { return next_loss ? next_loss() : Seconds{0.0}; }
  Seconds cpu_time() override { return cpu; }
  std::optional<MachineTime> machine_time() override {
    return next_machine ? next_machine() : machine;
  }

  std::function<Seconds()> next_loss;
  Seconds cpu;
  std::optional<MachineTime> machine;
  std::function<std::optional<MachineTime>()> next_machine;
};

class FakeDevice final : public Device {
 public:
  std::string kind() const override { return fake_kind; }
  std::string id() const override { return "fake"; }
  Seconds now() override { return time; }
  std::optional<Hertz> clock() override { return next_clock ? next_clock() : std::nullopt; }
  bool steady_clock() const override { return steady; }
  std::int64_t most_calls() const override { return calls_at_most; }
  bool lost() override { return is_lost; }
  std::string broken() const override { return why_broken; }
  unsigned slowdown() override { return next_slowdown ? next_slowdown() : 0; }
  std::vector<DeviceFault> faults() override { return std::exchange(next_faults, {}); }
  ThreadWatch& watch() override { return fake_watch; }
  int cores() const override { return 4; }
  Instructions* instructions() override { return fake_instructions; }
  MemorySystem* memory() override { return fake_memory; }
  Gemm* gemm() override { return fake_gemm; }
  Topology* topology() override { return fake_topology; }
  Copies* copies() override { return fake_copies; }
  Launches* launches() override { return fake_launches; }
  TrainingKernels* training_kernels() override { return fake_training_kernels; }

  std::string fake_kind = "host";
  Seconds time;
  bool steady = true, is_lost = false;
  std::string why_broken;
  std::int64_t calls_at_most = kAnyNumberOfCalls;
  std::function<std::optional<Hertz>()> next_clock;
  std::function<unsigned()> next_slowdown;
  std::vector<DeviceFault> next_faults;
  FakeWatch fake_watch;
  Instructions* fake_instructions = nullptr;
  MemorySystem* fake_memory = nullptr;
  Gemm* fake_gemm = nullptr;
  Topology* fake_topology = nullptr;
  Copies* fake_copies = nullptr;
  Launches* fake_launches = nullptr;
  TrainingKernels* fake_training_kernels = nullptr;
};

class CollectedRecords final : public RecordSink {
 public:
  void write(Record record) override { records.push_back(std::move(record)); }

  std::vector<Samples> samples() const {
    std::vector<Samples> found;
    for (const Record& record : records)
      if (const auto* samples = std::get_if<Samples>(&record.body)) found.push_back(*samples);
    return found;
  }

  std::vector<Record> records;
};

}  // namespace bench
