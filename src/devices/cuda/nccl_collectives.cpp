#include "devices/cuda/nccl_collectives.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "core/dtype.h"
#include "core/error.h"
#include "core/log.h"
#include "devices/collectives.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/injected_fault.h"
#include "devices/cuda/nccl_log.h"
#include "devices/cuda/rotation.h"
#include "devices/cuda/stream_graph.h"
#include "devices/cuda/stream_timer.h"
#include "devices/nccl/nccl_environment.h"

#ifdef BENCH_NCCL
#include <nccl.h>
#endif

namespace bench {
#ifdef BENCH_NCCL
namespace {

/// Throws Error(environment) with NCCL's last message; `communicator` may be null.
void check_nccl(ncclResult_t code, ncclComm_t communicator, const std::string& what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* last = ncclGetLastError(communicator);
  const std::string words = last == nullptr || *last == '\0' ? "" : std::string("; ") + last;
  throw Error(ErrorKind::environment, what + ": " + ncclGetErrorString(code) + words,
              "set NCCL_DEBUG=INFO in the case's env for details in the rank's log");
}

/// Throws Error(input) for an unsupported type.
ncclDataType_t nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return ncclFloat64;
    case Dtype::f32:
      return ncclFloat32;
    case Dtype::bf16:
      return ncclBfloat16;
    case Dtype::f16:
      return ncclFloat16;
    case Dtype::int32:
      return ncclInt32;
    case Dtype::int64:
      return ncclInt64;
    default:
      throw Error(ErrorKind::input, "NCCL is not measured with " + std::string(to_string(dtype)));
  }
}

constexpr std::chrono::milliseconds kWatchPeriod{250};

/// Watches a communicator. NCCL's network threads only record their errors: the kernel keeps
/// spinning, no call returns an error, and all ranks would wait until the deadline of the job. When
/// the communicator fails, this reports it and ends the process, like any error among several
/// ranks; the launcher ends the others. Must be destroyed before the communicator.
class NcclWatch {
 public:
  explicit NcclWatch(ncclComm_t communicator)
      : communicator_(communicator), thread_([this] { watch(); }) {}
  ~NcclWatch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kWatchPeriod, [this] { return over_; })) {
      ncclResult_t state = ncclSuccess;
      const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &state);
      try {
        check_nccl(asked == ncclSuccess ? state : asked, communicator_, "NCCL's network");
      } catch (const Error& error) {
        say(Level::error, error.what());
        std::_Exit(static_cast<int>(ExitCode::environment));
      }
    }
  }

  const ncclComm_t communicator_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

/// Communicates on its own stream while the device's stream computes.
class StreamOverlap final : public Overlap {
 public:
  /// `direct_to` selects the stream of Collectives::run(); it is reset to `computing` afterwards.
  StreamOverlap(cudaStream_t computing, std::function<void(cudaStream_t)> direct_to)
      : computing_(computing),
        direct_to_(std::move(direct_to)),
        communicating_(highest_priority()) {}

  void run_computation(const std::function<void()>& work) override { work(); }

  void together(const std::function<void()>& communicate,
                const std::function<void()>& compute) override {
    communication_.used = static_cast<bool>(communicate);
    computation_.used = static_cast<bool>(compute);
    check(cudaEventRecord(fork_.get(), computing_), "start both sides");
    check(cudaStreamWaitEvent(communicating_.get(), fork_.get()), "start both sides");
    if (communicate) {
      direct_to_(communicating_.get());
      try {
        communication_.enqueue(communicating_.get(), communicate);
      } catch (...) {
        direct_to_(computing_);
        throw;
      }
      direct_to_(computing_);
    }
    if (compute) computation_.enqueue(computing_, compute);
    check(cudaEventRecord(join_.get(), communicating_.get()), "wait for both sides");
    check(cudaStreamWaitEvent(computing_, join_.get()), "wait for both sides");
  }

  Parts last_parts() override { return {communication_.took(), computation_.took()}; }

 private:
  struct Stretch {
    CudaEvent begin, end;
    bool used = false;

    void enqueue(cudaStream_t stream, const std::function<void()>& work) const {
      check(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
      work();
      check(cudaEventRecord(end.get(), stream), "cudaEventRecord");
    }
    Seconds took() const { return used ? between(begin, end) : Seconds{}; }
  };

  cudaStream_t computing_;
  std::function<void(cudaStream_t)> direct_to_;
  CudaStream communicating_;
  CudaEvent fork_, join_;
  Stretch communication_, computation_;
};

class DeviceCollectiveMemory final : public CollectiveMemory {
 public:
  DeviceCollectiveMemory(std::size_t bytes, cudaStream_t stream)
      : memory_(bytes), stream_(stream) {}

  std::byte* data() override { return memory_.as<std::byte>(); }
  void write(std::size_t at, std::span<const std::byte> bytes) override {
    copy(data() + at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }
  void read(std::size_t at, std::span<std::byte> bytes) override {
    copy(bytes.data(), data() + at, bytes.size(), cudaMemcpyDeviceToHost);
    inject_fault(bytes.data() + bytes.size() - 1);
  }

 private:
  /// On the stream of the operations, after them.
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy a buffer");
    check(cudaStreamSynchronize(stream_), "copy a buffer");
  }

  DeviceMemory memory_;
  cudaStream_t stream_;
};

class RecordedOnStream final : public RecordedOperations {
 public:
  RecordedOnStream(cudaStream_t stream, const std::function<void()>& enqueue)
      : graph_(stream, enqueue) {}
  void replay() override { graph_.launch(); }

 private:
  StreamGraph graph_;
};

/// Before the first communicator: NCCL reads the environment once.
void set_environment(const PathRequest& paths) {
  const auto variables = nccl_environment(paths, card_kind(SystemFiles(), paths.network_card));
  for (const auto& [name, value] : variables) {
    const char* there = std::getenv(name.c_str());
    if (there != nullptr && there != value)
      throw Error(
          ErrorKind::input,
          name + " is " + there + " in the environment, but the requested transport needs " + value,
          "unset it");
    setenv(name.c_str(), value.c_str(), 1);
  }
}

class NcclCollectives final : public Collectives {
 public:
  NcclCollectives(Group& group, cudaStream_t stream)
      : group_(group),
        stream_(stream),
        current_(stream),
        rank_(group.rank()),
        size_(group.size()),
        first_operation_(sizeof(float)) {}
  ~NcclCollectives() override { abort(); }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  std::string path_obstacle(const PathRequest& paths) const override {
    return nccl_path_obstacle(paths, card_kind(SystemFiles(), paths.network_card),
                              joined_ ? &*joined_ : nullptr);
  }

  void disconnect() override {
    if (communicator_ == nullptr) return;
    watch_.reset();
    check_nccl(ncclCommDestroy(std::exchange(communicator_, nullptr)), nullptr, "ncclCommDestroy");
  }

  void connect(const PathRequest& paths) override {
    disconnect();
    if (!joined_) set_environment(paths);
    joined_ = paths;
    ncclUniqueId id{};
    if (rank_ == 0) check_nccl(ncclGetUniqueId(&id), nullptr, "ncclGetUniqueId");
    group_.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    try {
      join(id);
    } catch (...) {
      abort();  // releases ranks that wait for this one
      throw;
    }
    ++connections_;
  }
  int connections() const override { return connections_; }

  std::unique_ptr<CollectiveMemory> allocate(std::size_t bytes) override {
    return std::make_unique<DeviceCollectiveMemory>(bytes, stream_);
  }

  std::size_t rotation_bytes() const override {
    return std::max(Collectives::rotation_bytes(), kRotationPerL2 * l2_bytes());
  }

  std::string_view obstacle(CollectiveOp op, Dtype, bool in_place) const override {
    if (!in_place) return "";
    if (op == CollectiveOp::send_recv || op == CollectiveOp::all_to_all)
      return "NCCL send and receive need separate buffers";
    // The result would overwrite this rank's part of the input, which others read.
    if (op == CollectiveOp::reduce_scatter) return "NCCL's in-place layout differs";
    return "";
  }

  bool records() const override { return true; }
  std::unique_ptr<RecordedOperations> record(const std::function<void()>& enqueue) override {
    return std::make_unique<RecordedOnStream>(stream_, enqueue);
  }
  Overlap* overlap() override {
    if (!overlap_) overlap_.emplace(stream_, [this](cudaStream_t stream) { current_ = stream; });
    return &*overlap_;
  }

  std::optional<CollectiveChoice> chosen() override { return log_.chosen(); }
  UsedPaths used_paths() override { return log_.used_paths(); }

  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    const ncclDataType_t type = nccl_type(dtype);
    const std::size_t part = count * size_of(dtype);
    switch (op) {
      case CollectiveOp::all_reduce:
        return checked(ncclAllReduce(send, recv, count, type, ncclSum, communicator_, current_));
      case CollectiveOp::all_gather:
        return checked(ncclAllGather(send, recv, count, type, communicator_, current_));
      case CollectiveOp::reduce_scatter:
        return checked(
            ncclReduceScatter(send, recv, count, type, ncclSum, communicator_, current_));
      case CollectiveOp::broadcast:
        return checked(ncclBroadcast(send, recv, count, type, 0, communicator_, current_));
      case CollectiveOp::reduce:
        return checked(ncclReduce(send, recv, count, type, ncclSum, 0, communicator_, current_));
      case CollectiveOp::all_to_all:
        return exchange_all(static_cast<const std::byte*>(send), static_cast<std::byte*>(recv),
                            count, part, type);
      case CollectiveOp::send_recv:
        return pass_on(send, recv, count, type);
    }
  }

 private:
  void join(const ncclUniqueId& id) {
    check_nccl(ncclCommInitRank(&communicator_, size_, id, rank_), nullptr, "ncclCommInitRank");
    watch_.emplace(communicator_);
    float* value = first_operation_.as<float>();
    run(CollectiveOp::all_reduce, value, value, 1, Dtype::f32);
    check(cudaStreamSynchronize(stream_), "the first operation");
  }

  /// Does not wait for other ranks.
  void abort() {
    watch_.reset();
    if (communicator_ != nullptr) ncclCommAbort(std::exchange(communicator_, nullptr));
  }

  void checked(ncclResult_t code) const { check_nccl(code, communicator_, "a collective"); }

  void exchange_all(const std::byte* send, std::byte* recv, std::size_t count, std::size_t part,
                    ncclDataType_t type) const {
    checked(ncclGroupStart());
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * part;
      checked(ncclSend(send + at, count, type, peer, communicator_, current_));
      checked(ncclRecv(recv + at, count, type, peer, communicator_, current_));
    }
    checked(ncclGroupEnd());
  }

  void pass_on(const void* send, void* recv, std::size_t count, ncclDataType_t type) const {
    checked(ncclGroupStart());
    checked(ncclSend(send, count, type, (rank_ + 1) % size_, communicator_, current_));
    checked(ncclRecv(recv, count, type, (rank_ + size_ - 1) % size_, communicator_, current_));
    checked(ncclGroupEnd());
  }

  NcclLog& log_ = NcclLog::of_process();  // first, before NCCL is called
  Group& group_;
  cudaStream_t stream_;
  cudaStream_t current_;  // of the operations
  int rank_;
  int size_;
  DeviceMemory first_operation_;
  ncclComm_t communicator_ = nullptr;
  std::optional<NcclWatch> watch_;
  int connections_ = 0;
  std::optional<PathRequest> joined_;
  std::optional<StreamOverlap> overlap_;
};

}  // namespace

std::unique_ptr<Collectives> make_nccl_collectives(Group& group, cudaStream_t stream) {
  return std::make_unique<NcclCollectives>(group, stream);
}

std::string nccl_version() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), nullptr, "ncclGetVersion");
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

#else

std::unique_ptr<Collectives> make_nccl_collectives(Group&, cudaStream_t) { return nullptr; }
std::string nccl_version() { return ""; }

#endif

}  // namespace bench
