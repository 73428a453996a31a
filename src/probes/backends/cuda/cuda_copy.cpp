#include "probes/backends/cuda/cuda_copy.h"

#include <algorithm>

#include "probes/backends/cuda/counting_kernels.h"
#include "probes/backends/cuda/finished_copies.h"
#include "probes/backends/cuda/injected_fault.h"
#include "probes/backends/cuda/rotation.h"

namespace bench {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Makes another GPU current for as long.
class CurrentDevice {
 public:
  CurrentDevice(int device, int afterwards) : afterwards_(afterwards) {
    check(cudaSetDevice(device), "select GPU " + std::to_string(device));
  }
  ~CurrentDevice() { cudaSetDevice(afterwards_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int afterwards_;
};

DeviceMemory memory_of(int device, std::size_t bytes, int own) {
  const CurrentDevice current(device, own);
  return DeviceMemory(bytes);
}

/// Sizes that are no whole lines stay where they are: another place would be aligned worse.
std::size_t sets_of(const CopyRequest& request) {
  if (!request.rotate || request.bytes % kRotationAlignment != 0) return 1;
  return rotation_sets(request.bytes, l2_bytes());
}

}  // namespace

CudaCopy::CudaCopy(const CopyRequest& request, int device, cudaStream_t stream, std::uint64_t seed)
    : request_(request),
      sets_(sets_of(request)),
      region_(sets_ * request.bytes),
      words_(region_ / kWord),
      stream_(stream),
      inner_(region_),
      checked_(region_),
      wrong_(kWord) {
  switch (request.route) {
    case CopyRoute::host_to_device:
      add_from_host(seed);
      break;
    case CopyRoute::device_to_host:
      add_to_host(seed);
      break;
    case CopyRoute::both:
      add_from_host(seed);
      add_to_host(seed + 1);
      break;
    case CopyRoute::inside:
      outer_ = DeviceMemory(region_);
      add_between(outer_, inner_, seed);
      break;
    case CopyRoute::peer_write:
      outer_ = memory_of(request.peer, region_, device);
      add_between(inner_, outer_, seed);
      break;
    case CopyRoute::peer_read:
      outer_ = memory_of(request.peer, region_, device);
      add_between(outer_, inner_, seed);
      break;
  }
  check(cudaDeviceSynchronize(), "fill the source");
}

void CudaCopy::run(std::int64_t calls) {
  if (legs_.size() > 1) {
    check(cudaEventRecord(fork_.get(), stream_), "start the reverse copy");
    check(cudaStreamWaitEvent(other_.get(), fork_.get()), "start the reverse copy");
  }
  for (; calls > 0; --calls) {
    const std::size_t at = set_ * (request_.bytes / kWord);
    for (std::size_t leg = 0; leg < legs_.size(); ++leg)
      check(cudaMemcpyAsync(legs_[leg].to + at, legs_[leg].from + at, request_.bytes,
                            cudaMemcpyDefault, leg == 0 ? stream_ : other_.get()),
            "copy");
    set_ = set_ + 1 == sets_ ? 0 : set_ + 1;
    reached_ = std::min(reached_ + 1, sets_);
  }
  if (legs_.size() > 1) {
    check(cudaEventRecord(join_.get(), other_.get()), "wait for the reverse copy");
    check(cudaStreamWaitEvent(stream_, join_.get()), "wait for the reverse copy");
  }
  if (uses_host(request_.route) && request_.memory == HostMemory::pageable)
    check(cudaStreamSynchronize(stream_), "the copies");
}

Check CudaCopy::verify() {
  run(static_cast<std::int64_t>(sets_ - reached_));
  check(cudaStreamSynchronize(stream_), "the copies");
  double wrong = 0.0;
  for (const Leg& leg : legs_) {
    if (leg.host_target.empty())
      inject_fault_on_gpu(leg.to);
    else
      inject_fault(leg.to);
    wrong +=
        leg.host_target.empty() ? wrong_on_gpu(leg) : count_wrong_words(leg.host_target, leg.seed);
  }
  return {"every word", wrong, 0.0};
}

HostBuffer& CudaCopy::add_host() {
  hosts_.push_back(std::make_unique<HostBuffer>(region_, request_.memory, request_.numa_node));
  return *hosts_.back();
}

void CudaCopy::add_from_host(std::uint64_t seed) {
  HostBuffer& host = add_host();
  fill_words(host.words(), seed);
  poison(inner_);
  legs_.push_back({inner_.as<std::uint64_t>(), host.words().data(), {}, seed});
}

void CudaCopy::add_to_host(std::uint64_t seed) {
  HostBuffer& host = add_host();
  outer_ = DeviceMemory(region_);
  launch_fill_words(outer_.as<std::uint64_t>(), seed, words_, stream_);
  legs_.push_back({host.words().data(), outer_.as<std::uint64_t>(), host.words(), seed});
}

/// The source may be a peer's, whose memory this GPU's kernels need not reach: it is filled here
/// and copied there.
void CudaCopy::add_between(const DeviceMemory& from, const DeviceMemory& to, std::uint64_t seed) {
  launch_fill_words(checked_.as<std::uint64_t>(), seed, words_, stream_);
  check(cudaStreamSynchronize(stream_), "fill the source");
  copy_now(from.as<>(), checked_.as<>(), region_, "copy the source to the GPU");
  poison(to);
  poison(checked_);
  legs_.push_back({to.as<std::uint64_t>(), from.as<std::uint64_t>(), {}, seed});
}

void CudaCopy::poison(const DeviceMemory& memory) {
  set_now(memory.as<>(), 0xff, memory.bytes(), "poison the target");
}

/// Both the GPU and, for some words, the host look at what arrived.
double CudaCopy::wrong_on_gpu(const Leg& leg) {
  copy_now(checked_.as<>(), leg.to, region_, "read the target");
  check(cudaMemsetAsync(wrong_.as<>(), 0, kWord, stream_), "clear the count");
  launch_count_wrong_words(checked_.as<std::uint64_t>(), leg.seed, words_,
                           wrong_.as<std::uint64_t>(), stream_);
  std::uint64_t count = 0;
  check(cudaMemcpyAsync(&count, wrong_.as<>(), kWord, cudaMemcpyDeviceToHost, stream_),
        "read the count");
  check(cudaStreamSynchronize(stream_), "check the target");
  std::vector<std::uint64_t> some(std::min<std::size_t>(words_, 4096));
  copy_now(some.data(), leg.to, some.size() * kWord, "read words");
  return std::max(static_cast<double>(count), count_wrong_words(some, leg.seed));
}

}  // namespace bench
