#include "training/host/training_kernels.h"

#include "training/host/host_kernels.h"

namespace bench {
namespace {

class HostTrainingKernels final : public TrainingKernels {
 public:
  std::string name() const override { return std::string(training::host_kernel_isa()); }
  training::KernelSet make(Dtype dtype) override { return training::host_kernels(dtype); }
};

}  // namespace

std::unique_ptr<TrainingKernels> make_host_training_kernels() {
  return std::make_unique<HostTrainingKernels>();
}

}  // namespace bench
