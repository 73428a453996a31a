#include "probes/training/backends/cuda/nccl_exchange.h"

#include <deque>
#include <utility>

#include "probes/backends/cuda/nccl_collectives.h"
#include "probes/training/backends/cuda/functor_set.h"

namespace bench::training {
namespace {

class NcclExchange final : public ExchangeStream {
 public:
  NcclExchange(Group& group, Dtype dtype, std::shared_ptr<DeviceContext> computing)
      : computing_(std::move(computing)),
        communicating_(highest_priority()),
        kernels_(functor_set(dtype, communicating_)),
        collectives_(make_nccl_collectives(group, communicating_.stream())) {
    collectives_->connect({});
  }

  Collectives& collectives() override { return *collectives_; }
  ElementwiseKernels& elementwise() override { return *kernels_.elementwise; }

  void enqueue(const std::function<void()>& work) override {
    check(cudaEventRecord(asked_.get(), computing_->stream()), "start exchange");
    check(cudaStreamWaitEvent(communicating_.stream(), asked_.get()), "start exchange");
    if (used_ == stretches_.size()) stretches_.emplace_back();
    const Stretch& stretch = stretches_[used_++];
    check(cudaEventRecord(stretch.begin.get(), communicating_.stream()), "record exchange event");
    work();
    check(cudaEventRecord(stretch.end.get(), communicating_.stream()), "record exchange event");
  }

  Seconds finish() override {
    communicating_.synchronise();
    Seconds took;
    for (; used_ > 0; --used_)
      took += between(stretches_[used_ - 1].begin, stretches_[used_ - 1].end);
    // NCCL's messages would fill memory if they were not read.
    collectives_->chosen();
    return took;
  }

 private:
  struct Stretch {
    CudaEvent begin, end;
  };

  std::shared_ptr<DeviceContext> computing_;
  DeviceContext communicating_;
  KernelSet kernels_;
  std::unique_ptr<Collectives> collectives_;
  CudaEvent asked_;
  std::deque<Stretch> stretches_ = {};  // by piece; those of a step serve the next one too
  std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<ExchangeStream> make_nccl_exchange(Group& group, Dtype dtype,
                                                   std::shared_ptr<DeviceContext> computing) {
  if (nccl_version().empty()) return nullptr;
  return std::make_unique<NcclExchange>(group, dtype, std::move(computing));
}

}  // namespace bench::training
