#include "probes/backends/cuda/nccl_collectives.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "probes/backends/cuda/device_collective_memory.h"
#include "probes/backends/cuda/nccl/nccl_environment.h"
#include "probes/backends/cuda/nccl_check.h"
#include "probes/backends/cuda/nccl_log.h"
#include "probes/backends/cuda/nccl_watch.h"
#include "probes/backends/cuda/rotation.h"
#include "probes/backends/cuda/stream_graph.h"
#include "probes/backends/cuda/stream_overlap.h"

namespace bench {
#ifdef BENCH_NCCL
namespace {

class RecordedOnStream final : public RecordedOperations {
 public:
  RecordedOnStream(cudaStream_t stream, const std::function<void()>& enqueue)
      : graph_(stream, enqueue) {}
  void replay() override { graph_.launch(); }

 private:
  StreamGraph graph_;
};

/// Before the first communicator: NCCL does not look again.
void set_environment(const PathRequest& paths) {
  const auto variables = nccl_environment(paths, card_kind(SystemFiles(), paths.network_card));
  for (const auto& [name, value] : variables) {
    const char* there = std::getenv(name.c_str());
    if (there != nullptr && there != value)
      throw Error(ErrorKind::input,
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
      abort();  // closes what ranks that still wait for this one wait on
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
    // It would leave the result at the rank's own part of the input, where others read.
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

  /// Waits for no rank.
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
  cudaStream_t current_;  // that operations are enqueued on
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
