// The CPU as a device. Capabilities are made when first asked for: a null job should not pay for
// the start of oneDNN.
#include "probes/backends/host/host_capabilities.h"
#include "probes/device.h"
#include "probes/device/gemm.h"
#include "probes/device/instructions.h"
#include "probes/device/memory.h"
#include "probes/device/topology.h"
#include "probes/device/training_kernels.h"
#include "probes/host_clock.h"

namespace bench {
namespace {

class HostDevice final : public Device {
 public:
  HostDevice() : cpus_(HostCpus::allowed()) {}

  std::string kind() const override { return "host"; }
  std::string id() const override { return "cpu"; }

  Seconds now() override { return steady_now(); }

  std::optional<Hertz> clock() override { return core_clock(); }
  ThreadWatch& watch() override { return watch_; }
  int cores() const override { return cpus_.count(); }

  Instructions* instructions() override {
    if (!instructions_) instructions_ = make_host_instructions(cpus_, watch_);
    return instructions_.get();
  }
  MemorySystem* memory() override {
    if (!memory_) memory_ = make_host_memory(cpus_, watch_);
    return memory_.get();
  }
  Gemm* gemm() override {
    if (!gemm_) gemm_ = make_host_gemm(cpus_, watch_);
    return gemm_.get();
  }
  Topology* topology() override {
    if (!topology_) topology_ = make_host_topology();
    return topology_.get();
  }
  TrainingKernels* training_kernels() override {
    if (!training_kernels_) training_kernels_ = make_host_training_kernels();
    return training_kernels_.get();
  }

 private:
  HostCpus cpus_;
  HostThreadWatch watch_;
  std::unique_ptr<Instructions> instructions_;
  std::unique_ptr<MemorySystem> memory_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<TrainingKernels> training_kernels_;
};

}  // namespace

std::unique_ptr<Device> make_host_device() { return std::make_unique<HostDevice>(); }

}  // namespace bench
