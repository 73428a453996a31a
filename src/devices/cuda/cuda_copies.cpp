#include "devices/cuda/cuda_copies.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "core/system_files.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/injected_fault.h"
#include "devices/cuda/rotation.h"
#include "devices/cuda/stream_kernels.h"
#include "devices/cuda/stream_timer.h"

namespace bench {
namespace {

class CudaPageLock final : public PageLock {
 public:
  explicit CudaPageLock(std::span<std::byte> memory) : memory_(memory) {
    check(cudaHostRegister(memory_.data(), memory_.size(), cudaHostRegisterPortable),
          "page-lock the batches");
  }
  ~CudaPageLock() override { cudaHostUnregister(memory_.data()); }
  CudaPageLock(const CudaPageLock&) = delete;
  CudaPageLock& operator=(const CudaPageLock&) = delete;

 private:
  std::span<std::byte> memory_;
};

class CudaUploads final : public Uploads {
 public:
  explicit CudaUploads(std::size_t bytes) : places_{DeviceMemory(bytes), DeviceMemory(bytes)} {}
  ~CudaUploads() override { cudaStreamSynchronize(stream_.get()); }

  void start(std::span<const std::byte> from) override {
    place_ = 1 - place_;
    check(cudaMemcpyAsync(places_.at(place_).as<>(), from.data(), from.size(),
                          cudaMemcpyHostToDevice, stream_.get()),
          "copy a batch to the GPU");
  }
  void finish() override {
    check(cudaStreamSynchronize(stream_.get()), "the copy of a batch to the GPU");
  }
  std::uint64_t wrong(std::span<const std::byte> expected) override {
    finish();
    inject_fault_on_gpu(places_.at(place_).as<>());
    std::vector<std::byte> arrived(expected.size());
    copy_now(arrived.data(), places_.at(place_).as<>(), arrived.size(),
             "read a batch from the GPU");
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < arrived.size(); ++i) wrong += arrived[i] != expected[i] ? 1 : 0;
    return wrong;
  }

 private:
  CudaStream stream_;
  std::array<DeviceMemory, 2> places_;
  std::size_t place_ = 0;
};

/// A plain system call, to avoid depending on libnuma.
void bind_to_node(void* data, std::size_t bytes, int node) {
  constexpr int kBind = 2;  // MPOL_BIND
  constexpr std::size_t kNodes = 1024, kWordBits = 64;
  std::array<unsigned long, kNodes / kWordBits> mask{};
  const auto bit = static_cast<std::size_t>(node);
  if (node < 0 || bit >= kNodes)
    throw Error(ErrorKind::input, "no NUMA node " + std::to_string(node));
  mask[bit / kWordBits] = 1ul << (bit % kWordBits);
  if (syscall(SYS_mbind, data, bytes, kBind, mask.data(), kNodes, 0) != 0)
    throw MemoryRefused("cannot bind memory to NUMA node " + std::to_string(node) + ": " +
                        std::strerror(errno));
}

}  // namespace

HostBuffer::HostBuffer(std::size_t bytes, HostMemory kind, std::optional<int> numa_node)
    : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw_errno("get " + std::to_string(bytes) + " bytes of host memory");
  try {
    if (numa_node) bind_to_node(data_, bytes_, *numa_node);
    std::memset(data_, 0xff, bytes_);
    if (kind == HostMemory::pinned) {
      check(cudaHostRegister(data_, bytes_, cudaHostRegisterPortable), "page-lock host memory");
      locked_ = true;
    }
  } catch (...) {
    unmap();
    throw;
  }
}

HostBuffer::~HostBuffer() { unmap(); }

void HostBuffer::unmap() {
  if (locked_) cudaHostUnregister(data_);
  munmap(data_, bytes_);
}

std::span<std::uint64_t> HostBuffer::words() const {
  return {static_cast<std::uint64_t*>(data_), bytes_ / sizeof(std::uint64_t)};
}

void fill_words(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(seed, i);
}

double count_wrong_words(std::span<const std::uint64_t> words, std::uint64_t seed) {
  double wrong = 0.0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != random_bits(seed, i)) ++wrong;
  return wrong;
}

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Makes another GPU current during the lifetime of this object.
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

/// Unaligned sizes are not rotated: other sets would be aligned worse.
std::size_t sets_of(const CopyRequest& request) {
  if (!request.rotate || request.bytes % kRotationAlignment != 0) return 1;
  return rotation_sets(request.bytes, l2_bytes());
}

/// A copy of one kind with its buffers.
class CudaCopy final : public CopyRun {
 public:
  /// Fills the source from `seed`. `device` is the GPU of `stream`; peer access must be enabled.
  CudaCopy(const CopyRequest& request, int device, cudaStream_t stream, std::uint64_t seed)
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

  void run(std::int64_t calls) override {
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

  Check verify() override {
    run(static_cast<std::int64_t>(sets_ - reached_));
    check(cudaStreamSynchronize(stream_), "the copies");
    double wrong = 0.0;
    for (const Leg& leg : legs_) {
      if (leg.host_target.empty())
        inject_fault_on_gpu(leg.to);
      else
        inject_fault(leg.to);
      wrong += leg.host_target.empty() ? wrong_on_gpu(leg)
                                       : count_wrong_words(leg.host_target, leg.seed);
    }
    return {"every word", wrong, 0.0};
  }

 private:
  /// One direction: source, target and expected contents.
  struct Leg {
    std::uint64_t* to = nullptr;
    const std::uint64_t* from = nullptr;
    std::span<const std::uint64_t> host_target;  // empty if the target is on a GPU
    std::uint64_t seed = 0;
  };

  HostBuffer& add_host() {
    hosts_.push_back(std::make_unique<HostBuffer>(region_, request_.memory, request_.numa_node));
    return *hosts_.back();
  }

  void add_from_host(std::uint64_t seed) {
    HostBuffer& host = add_host();
    fill_words(host.words(), seed);
    poison(inner_);
    legs_.push_back({inner_.as<std::uint64_t>(), host.words().data(), {}, seed});
  }

  void add_to_host(std::uint64_t seed) {
    HostBuffer& host = add_host();
    outer_ = DeviceMemory(region_);
    launch_fill_words(outer_.as<std::uint64_t>(), seed, words_, stream_);
    legs_.push_back({host.words().data(), outer_.as<std::uint64_t>(), host.words(), seed});
  }

  /// The source may be on a peer that kernels of this GPU cannot access: it is filled here and
  /// copied there.
  void add_between(const DeviceMemory& from, const DeviceMemory& to, std::uint64_t seed) {
    launch_fill_words(checked_.as<std::uint64_t>(), seed, words_, stream_);
    check(cudaStreamSynchronize(stream_), "fill the source");
    copy_now(from.as<>(), checked_.as<>(), region_, "copy the source to the GPU");
    poison(to);
    poison(checked_);
    legs_.push_back({to.as<std::uint64_t>(), from.as<std::uint64_t>(), {}, seed});
  }

  void poison(const DeviceMemory& memory) {
    set_now(memory.as<>(), 0xff, memory.bytes(), "poison the target");
  }

  /// The GPU checks all words, the host some.
  double wrong_on_gpu(const Leg& leg) {
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

  const CopyRequest request_;
  const std::size_t sets_;    // used in turn
  const std::size_t region_;  // bytes of all of them
  const std::size_t words_;   // of all of them
  std::size_t set_ = 0;       // of the next call
  std::size_t reached_ = 0;   // sets used so far
  const cudaStream_t stream_;
  CudaStream other_;
  CudaEvent fork_, join_;
  DeviceMemory inner_;    // on this GPU
  DeviceMemory outer_;    // on this GPU too, or on the peer
  DeviceMemory checked_;  // copy of the target for kernels of this GPU
  DeviceMemory wrong_;
  std::vector<std::unique_ptr<HostBuffer>> hosts_;
  std::vector<Leg> legs_;
};

class CudaCopies final : public Copies {
 public:
  CudaCopies(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  std::vector<int> peers() const override {
    int count = 0;
    check(cudaGetDeviceCount(&count), "count the GPUs");
    std::vector<int> others;
    for (int other = 0; other < count; ++other)
      if (other != device_) others.push_back(other);
    return others;
  }

  /// Without nodes that are GPU memory (GH200, GB200).
  std::vector<int> numa_nodes() const override {
    std::vector<int> nodes =
        SystemFiles().list("sys/devices/system/node/has_memory").value_or(std::vector<int>{0});
    for (const int node : nodes_of_gpus()) std::erase(nodes, node);
    return nodes;
  }

  CopyOffer prepare(const CopyRequest& request) override {
    if (request.bytes % sizeof(std::uint64_t) != 0)
      return {nullptr, "the size must be a multiple of 8 bytes so that every word can be checked"};
    if (uses_peer(request.route)) {
      const std::string obstacle = open_peer(request.peer);
      if (!obstacle.empty()) return {nullptr, obstacle};
    }
    try {
      return {std::make_unique<CudaCopy>(request, device_, stream_, ++seed_ * 2), ""};
    } catch (const MemoryRefused& refused) {
      return {nullptr, refused.what()};
    }
  }

  PageLockOffer lock(std::span<std::byte> memory) override {
    try {
      return {std::make_unique<CudaPageLock>(memory), ""};
    } catch (const Error& error) {
      return {nullptr, error.what()};
    }
  }
  UploadsOffer uploads(std::size_t bytes) override {
    try {
      return {std::make_unique<CudaUploads>(bytes), ""};
    } catch (const Error& error) {
      return {nullptr, error.what()};
    }
  }

 private:
  static std::vector<int> nodes_of_gpus() {
    int count = 0;
    check(cudaGetDeviceCount(&count), "count the GPUs");
    std::vector<int> nodes;
    for (int gpu = 0; gpu < count; ++gpu) {
      int is_node = 0, node = 0;
      const bool known =
          cudaDeviceGetAttribute(&is_node, cudaDevAttrNumaConfig, gpu) == cudaSuccess &&
          cudaDeviceGetAttribute(&node, cudaDevAttrNumaId, gpu) == cudaSuccess;
      if (!known) cudaGetLastError();  // old drivers have no such GPU
      if (known && is_node == cudaDeviceNumaConfigNumaNode) nodes.push_back(node);
    }
    return nodes;
  }

  /// Without peer access a copy would go through the host, a different measurement.
  std::string open_peer(int peer) const {
    int reachable = 0;
    check(cudaDeviceCanAccessPeer(&reachable, device_, peer), "query peer access");
    if (reachable == 0)
      return "GPU " + std::to_string(device_) + " has no peer access to GPU " +
             std::to_string(peer);
    const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // clear it
    else
      check(code, "enable peer access to GPU " + std::to_string(peer));
    return "";
  }

  int device_;
  cudaStream_t stream_;
  std::uint64_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Copies> make_cuda_copies(int device, cudaStream_t stream) {
  return std::make_unique<CudaCopies>(device, stream);
}

}  // namespace bench
