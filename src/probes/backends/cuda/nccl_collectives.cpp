#include "probes/backends/cuda/nccl_collectives.h"

#ifdef BENCH_NCCL

#include <nccl.h>

#include "core/error.h"
#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/injected_fault.h"

namespace bench {
namespace {

void check_nccl(ncclResult_t code, ncclComm_t communicator, const std::string& what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* last = ncclGetLastError(communicator);
  const std::string words = last == nullptr || *last == '\0' ? "" : std::string("; ") + last;
  throw Error(ErrorKind::environment, what + ": " + ncclGetErrorString(code) + words,
              "NCCL_DEBUG=INFO in the case's env makes NCCL say more in the rank's log");
}

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
      throw Error(ErrorKind::input, "NCCL is not measured in " + std::string(to_string(dtype)));
  }
}

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
  /// On the operations' own stream, so that it comes after them.
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy a buffer");
    check(cudaStreamSynchronize(stream_), "copy a buffer");
  }

  DeviceMemory memory_;
  cudaStream_t stream_;
};

class NcclCollectives final : public Collectives {
 public:
  NcclCollectives(Group& group, cudaStream_t stream)
      : stream_(stream), rank_(group.rank()), size_(group.size()) {
    ncclUniqueId id{};
    if (rank_ == 0) check_nccl(ncclGetUniqueId(&id), nullptr, "ncclGetUniqueId");
    group.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    check_nccl(ncclCommInitRank(&communicator_, size_, id, rank_), nullptr, "ncclCommInitRank");
  }
  ~NcclCollectives() override {
    if (communicator_ != nullptr) ncclCommAbort(communicator_);  // must not wait for lost ranks
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  std::unique_ptr<CollectiveMemory> allocate(std::size_t bytes) override {
    return std::make_unique<DeviceCollectiveMemory>(bytes, stream_);
  }

  std::string_view obstacle(CollectiveOp op, Dtype, bool in_place) const override {
    if (!in_place) return "";
    if (op == CollectiveOp::send_recv || op == CollectiveOp::all_to_all)
      return "NCCL's sends and receives need buffers of their own";
    // It would leave the result at the rank's own part of the input, where others read.
    if (op == CollectiveOp::reduce_scatter) return "NCCL's in-place form has another layout";
    return "";
  }

  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    const ncclDataType_t type = nccl_type(dtype);
    const std::size_t part = count * size_of(dtype);
    switch (op) {
      case CollectiveOp::all_reduce:
        return checked(ncclAllReduce(send, recv, count, type, ncclSum, communicator_, stream_));
      case CollectiveOp::all_gather:
        return checked(ncclAllGather(send, recv, count, type, communicator_, stream_));
      case CollectiveOp::reduce_scatter:
        return checked(ncclReduceScatter(send, recv, count, type, ncclSum, communicator_, stream_));
      case CollectiveOp::broadcast:
        return checked(ncclBroadcast(send, recv, count, type, 0, communicator_, stream_));
      case CollectiveOp::reduce:
        return checked(ncclReduce(send, recv, count, type, ncclSum, 0, communicator_, stream_));
      case CollectiveOp::all_to_all:
        return exchange_all(static_cast<const std::byte*>(send), static_cast<std::byte*>(recv),
                            count, part, type);
      case CollectiveOp::send_recv:
        return pass_on(send, recv, count, type);
    }
  }

 private:
  void checked(ncclResult_t code) const { check_nccl(code, communicator_, "a collective"); }

  void exchange_all(const std::byte* send, std::byte* recv, std::size_t count, std::size_t part,
                    ncclDataType_t type) const {
    checked(ncclGroupStart());
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * part;
      checked(ncclSend(send + at, count, type, peer, communicator_, stream_));
      checked(ncclRecv(recv + at, count, type, peer, communicator_, stream_));
    }
    checked(ncclGroupEnd());
  }

  void pass_on(const void* send, void* recv, std::size_t count, ncclDataType_t type) const {
    checked(ncclGroupStart());
    checked(ncclSend(send, count, type, (rank_ + 1) % size_, communicator_, stream_));
    checked(ncclRecv(recv, count, type, (rank_ + size_ - 1) % size_, communicator_, stream_));
    checked(ncclGroupEnd());
  }

  cudaStream_t stream_;
  int rank_;
  int size_;
  ncclComm_t communicator_ = nullptr;
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

}  // namespace bench

#else

namespace bench {

std::unique_ptr<Collectives> make_nccl_collectives(Group&, cudaStream_t) { return nullptr; }
std::string nccl_version() { return ""; }

}  // namespace bench

#endif
