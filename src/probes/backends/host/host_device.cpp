// Capabilities are made when first asked for: a null job should not pay for the start of oneDNN.
#include "probes/backends/host/host_device.h"

#include <utility>

#include "probes/backends/host/clock.h"
#include "probes/backends/host/gemm_backends.h"
#include "probes/backends/host/host_cpus.h"
#include "probes/backends/host/kernels_compute.h"
#include "probes/backends/host/memory_survey.h"
#include "probes/backends/host/thread_watch.h"
#include "probes/device/gemm.h"
#include "probes/device/instructions.h"
#include "probes/device/memory.h"
#include "probes/device/topology.h"
#include "probes/host_clock.h"

namespace bench {
namespace {

class HostDevice final : public Device {
 public:
  HostDevice(MakeTrainingKernels training_kernels, MakeTopology topology)
      : cpus_(HostCpus::allowed()),
        make_training_kernels_(std::move(training_kernels)),
        make_topology_(std::move(topology)) {}

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
    if (!topology_ && make_topology_) topology_ = make_topology_();
    return topology_.get();
  }
  TrainingKernels* training_kernels() override {
    if (!training_kernels_ && make_training_kernels_) training_kernels_ = make_training_kernels_();
    return training_kernels_.get();
  }

 private:
  HostCpus cpus_;
  HostThreadWatch watch_;
  MakeTrainingKernels make_training_kernels_;
  MakeTopology make_topology_;
  std::unique_ptr<Instructions> instructions_;
  std::unique_ptr<MemorySystem> memory_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Topology> topology_;
  std::shared_ptr<TrainingKernels> training_kernels_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(MakeTrainingKernels training_kernels,
                                         MakeTopology topology) {
  return std::make_unique<HostDevice>(std::move(training_kernels), std::move(topology));
}

}  // namespace bench
