#include "probes/backends/cuda/cuda_launches.h"

#include <cmath>

#include "probes/backends/cuda/counting_kernels.h"
#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/finished_copies.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/backends/cuda/stream_graph.h"

namespace bench {
namespace {

class CudaLaunchRun final : public LaunchRun {
 public:
  CudaLaunchRun(LaunchKind kind, bool wait_each, cudaStream_t stream)
      : kind_(kind), wait_each_(wait_each), stream_(stream), counter_(sizeof(std::uint64_t)) {
    set_now(counter_.as<>(), 0, counter_.bytes(), "clear the counter");
    launch_add_one(counter_.as<std::uint64_t>(), stream_);  // loads the kernel
    wait();
    expected_ = 1;
    if (kind == LaunchKind::graph)
      graph_ = std::make_unique<StreamGraph>(stream_, [this] {
        for (int i = 0; i < kLaunchesInGraph; ++i)
          launch_add_one(counter_.as<std::uint64_t>(), stream_);
      });
  }

  void run(std::int64_t calls) override {
    for (std::int64_t call = 0; call < calls; ++call) {
      launch();
      if (wait_each_) wait();
    }
    if (!wait_each_) wait();
  }

  Check verify() override {
    std::uint64_t count = 0;
    inject_fault_on_gpu(counter_.as<>());
    copy_now(&count, counter_.as<>(), sizeof count, "read the counter");
    return {"kernels that ran",
            std::abs(static_cast<double>(count) - static_cast<double>(expected_)), 0.0};
  }

 private:
  void launch() {
    if (kind_ == LaunchKind::kernel) {
      launch_add_one(counter_.as<std::uint64_t>(), stream_);
      ++expected_;
    } else if (kind_ == LaunchKind::graph) {
      graph_->launch();
      expected_ += kLaunchesInGraph;
    }
  }

  void wait() { check(cudaStreamSynchronize(stream_), "wait for the stream"); }

  const LaunchKind kind_;
  const bool wait_each_;
  const cudaStream_t stream_;
  DeviceMemory counter_;
  std::unique_ptr<StreamGraph> graph_;
  std::uint64_t expected_ = 0;
};

class CudaLaunches final : public Launches {
 public:
  explicit CudaLaunches(cudaStream_t stream) : stream_(stream) {}
  std::unique_ptr<LaunchRun> prepare(LaunchKind kind, bool wait_each) override {
    return std::make_unique<CudaLaunchRun>(kind, wait_each, stream_);
  }

 private:
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<Launches> make_cuda_launches(cudaStream_t stream) {
  return std::make_unique<CudaLaunches>(stream);
}

}  // namespace bench
