#include "probes/backends/cuda/stream_overlap.h"

namespace bench {
namespace {

void enqueue_between(const CudaEvent& begin, const CudaEvent& end, cudaStream_t stream,
                     const std::function<void()>& work) {
  check(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
  work();
  check(cudaEventRecord(end.get(), stream), "cudaEventRecord");
}

}  // namespace

Seconds StreamOverlap::Stretch::took() const { return used ? between(begin, end) : Seconds{}; }

StreamOverlap::StreamOverlap(cudaStream_t computing, std::function<void(cudaStream_t)> direct_to)
    : computing_(computing), direct_to_(std::move(direct_to)), communicating_(highest_priority()) {}

void StreamOverlap::together(const std::function<void()>& communicate,
                             const std::function<void()>& compute) {
  communication_.used = static_cast<bool>(communicate);
  computation_.used = static_cast<bool>(compute);
  check(cudaEventRecord(fork_.get(), computing_), "start both sides");
  check(cudaStreamWaitEvent(communicating_.get(), fork_.get()), "start both sides");
  if (communicate) {
    direct_to_(communicating_.get());
    try {
      enqueue_between(communication_.begin, communication_.end, communicating_.get(), communicate);
    } catch (...) {
      direct_to_(computing_);
      throw;
    }
    direct_to_(computing_);
  }
  if (compute) enqueue_between(computation_.begin, computation_.end, computing_, compute);
  check(cudaEventRecord(join_.get(), communicating_.get()), "wait for both sides");
  check(cudaStreamWaitEvent(computing_, join_.get()), "wait for both sides");
}

Overlap::Parts StreamOverlap::last_parts() { return {communication_.took(), computation_.took()}; }

}  // namespace bench
