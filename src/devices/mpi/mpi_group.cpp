#include "devices/mpi/mpi_group.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef BENCH_MPI
#include <mpi.h>
#endif

#include "core/error.h"
#include "devices/collectives.h"
#include "devices/host_clock.h"

namespace bench {

#ifdef BENCH_MPI
namespace {

// Throws Error(environment) with MPI's text; `call` names the function.
void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw Error(ErrorKind::environment, std::string(call) + " failed: " + text);
}

/// Communicates in the calling thread and computes in a second one, which lives as long as this
/// object: library threads that a computation starts are created once.
class HostOverlap final : public Overlap {
 public:
  /// The thread inherits the current affinity of the calling one.
  HostOverlap() : thread_([this] { serve(); }) {}
  ~HostOverlap() override {
    turn_ = Turn::end;
    turn_.notify_all();
    thread_.join();
  }
  HostOverlap(const HostOverlap&) = delete;
  HostOverlap& operator=(const HostOverlap&) = delete;

  /// Rethrows what `work` throws.
  void run_computation(const std::function<void()>& work) override {
    start(work);
    wait();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void together(const std::function<void()>& communicate,
                const std::function<void()>& compute) override {
    parts_ = {};
    if (compute) start(compute);
    const Seconds begin = steady_now();
    try {
      if (communicate) communicate();
    } catch (...) {
      wait();  // the computation uses data of the caller
      throw;
    }
    if (communicate) parts_.communication = steady_now() - begin;
    wait();
    if (compute) parts_.computation = took_;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  Parts last_parts() override { return parts_; }

 private:
  enum class Turn { caller, thread, end };

  void serve() {
    for (;;) {
      turn_.wait(Turn::caller);
      if (turn_ == Turn::end) return;
      const Seconds begin = steady_now();
      try {
        (*work_)();
      } catch (...) {
        failure_ = std::current_exception();
      }
      took_ = steady_now() - begin;
      turn_ = Turn::caller;
      turn_.notify_all();
    }
  }

  void start(const std::function<void()>& work) {
    failure_ = nullptr;
    work_ = &work;
    turn_ = Turn::thread;
    turn_.notify_all();
  }

  void wait() { turn_.wait(Turn::thread); }

  std::atomic<Turn> turn_{Turn::caller};
  const std::function<void()>* work_ = nullptr;  // of the turn
  std::exception_ptr failure_;                   // of the last turn
  Seconds took_;                                 // in the last turn
  Parts parts_{};
  std::thread thread_;  // last, after the members it uses
};

bool sums(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter ||
         op == CollectiveOp::reduce;
}

/// MPI lacks 16-bit floats: they are sent as integers, which must not be summed.
MPI_Datatype mpi_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return MPI_DOUBLE;
    case Dtype::f32:
      return MPI_FLOAT;
    case Dtype::int8:
      return MPI_INT8_T;
    case Dtype::int32:
      return MPI_INT32_T;
    case Dtype::int64:
      return MPI_INT64_T;
    case Dtype::bf16:
    case Dtype::f16:
      return MPI_UINT16_T;
    default:
      throw Error(ErrorKind::input, "MPI is not measured with " + std::string(to_string(dtype)),
                  "use f32, f64, bf16, f16, int8, int32 or int64");
  }
}

/// The collective operations over MPI, on buffers in host memory.
class MpiCollectives final : public Collectives {
 public:
  /// Among the ranks of `ranks`, which must outlive this object.
  explicit MpiCollectives(MPI_Comm ranks) : ranks_(ranks) {
    check_mpi(MPI_Comm_dup(ranks_, &comm_), "MPI_Comm_dup");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiCollectives() override {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries && !sent_.empty(); ++i) forget_delivered();
    // What a failed rank never received MPI may still read.
    if (!sent_.empty()) static_cast<void>(new std::deque<Message>(std::move(sent_)));
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  /// Makes a communicator and performs a barrier in it.
  void connect(const PathRequest&) override {
    disconnect();
    check_mpi(MPI_Comm_dup(ranks_, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
    ++connections_;
  }
  void disconnect() override {
    if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free");
  }
  int connections() const override { return connections_; }

  std::string_view obstacle(CollectiveOp op, Dtype dtype, bool in_place) const override {
    if (in_place && (op == CollectiveOp::broadcast || op == CollectiveOp::send_recv))
      return "MPI has no in-place variant";
    if (sums(op) && (dtype == Dtype::bf16 || dtype == Dtype::f16))
      return "MPI cannot sum this type";
    return "";
  }

  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override;

  bool sends_messages() const override { return true; }
  void send(std::span<const std::byte> data, int to) override {
    forget_delivered();
    if (sent_.size() >= kMostUndelivered) {
      check_mpi(MPI_Wait(&sent_.front().request, MPI_STATUS_IGNORE), "MPI_Wait");
      sent_.pop_front();
    }
    sent_.push_back({{data.begin(), data.end()}, MPI_REQUEST_NULL});
    Message& message = sent_.back();
    check_mpi(MPI_Isend(message.data.data(), message_count(data.size()), MPI_BYTE, to, kMessageTag,
                        comm_, &message.request),
              "MPI_Isend");
  }
  void receive(std::span<std::byte> data, int from) override {
    MPI_Status status;
    check_mpi(MPI_Recv(data.data(), message_count(data.size()), MPI_BYTE, from, kMessageTag, comm_,
                       &status),
              "MPI_Recv");
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    if (static_cast<std::size_t>(received) != data.size())
      throw Error(ErrorKind::internal, "rank " + std::to_string(from) + " sent " +
                                           std::to_string(received) + " bytes, not " +
                                           std::to_string(data.size()));
    forget_delivered();
  }

  Overlap* overlap() override {
    int level = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    if (level < MPI_THREAD_FUNNELED) return nullptr;
    if (!overlap_) overlap_ = std::make_unique<HostOverlap>();
    return overlap_.get();
  }

 private:
  static constexpr int kMessageTag = 1;
  // Bounds the memory of copies if the receiver is slower.
  static constexpr std::size_t kMostUndelivered = 64;
  struct Message {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static int message_count(std::size_t bytes) {
    if (bytes <= INT_MAX) return static_cast<int>(bytes);
    throw Error(ErrorKind::input, std::to_string(bytes) + " bytes exceed the limit of MPI counts",
                "reduce the size");
  }
  void forget_delivered() {
    for (int done = 1; !sent_.empty();) {
      const int code = MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS || done == 0) return;
      sent_.pop_front();
    }
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;  // separate from that of the control plane
  int rank_ = 0;
  int size_ = 1;
  int connections_ = 0;
  std::deque<Message> sent_ = {};  // in order, until they are delivered
  std::unique_ptr<HostOverlap> overlap_;
};

void MpiCollectives::run(CollectiveOp op, const void* send, void* recv, std::size_t count,
                         Dtype dtype) {
  if (count > INT_MAX)
    throw Error(ErrorKind::input,
                std::to_string(count) + " elements exceed the limit of MPI counts",
                "reduce the size");
  if (const std::string_view why = obstacle(op, dtype, false); !why.empty())
    throw Error(ErrorKind::input, std::string(why) + ": " + std::string(to_string(dtype)),
                "use f32, f64, int8, int32 or int64");
  const int n = static_cast<int>(count);
  const MPI_Datatype type = mpi_type(dtype);
  const std::size_t part = count * size_of(dtype);
  const char* own_part = static_cast<const char*>(recv) + static_cast<std::size_t>(rank_) * part;
  const void* from = send == recv || send == own_part ? MPI_IN_PLACE : send;
  switch (op) {
    case CollectiveOp::all_reduce:
      return check_mpi(MPI_Allreduce(from, recv, n, type, MPI_SUM, comm_), "MPI_Allreduce");
    case CollectiveOp::all_gather:
      return check_mpi(MPI_Allgather(from, n, type, recv, n, type, comm_), "MPI_Allgather");
    case CollectiveOp::reduce_scatter:
      return check_mpi(MPI_Reduce_scatter_block(from, recv, n, type, MPI_SUM, comm_),
                       "MPI_Reduce_scatter_block");
    case CollectiveOp::broadcast:
      // MPI has no out-of-place broadcast: rank 0 sends from its send buffer.
      return check_mpi(MPI_Bcast(rank_ == 0 ? const_cast<void*>(send) : recv, n, type, 0, comm_),
                       "MPI_Bcast");
    case CollectiveOp::reduce:
      return check_mpi(MPI_Reduce(rank_ == 0 ? from : send, rank_ == 0 ? recv : nullptr, n, type,
                                  MPI_SUM, 0, comm_),
                       "MPI_Reduce");
    case CollectiveOp::all_to_all:
      return check_mpi(MPI_Alltoall(from, n, type, recv, n, type, comm_), "MPI_Alltoall");
    case CollectiveOp::send_recv:
      return check_mpi(MPI_Sendrecv(send, n, type, (rank_ + 1) % size_, 0, recv, n, type,
                                    (rank_ + size_ - 1) % size_, 0, comm_, MPI_STATUS_IGNORE),
                       "MPI_Sendrecv");
  }
}

/// "Open MPI v4.1.4, package: ..." shortened to "Open MPI v4.1.4".
std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

/// MPI must be initialised for threads if one computes while another calls MPI, and Open MPI then
/// takes locks that slow every small collective (scripts/evidence collective_peers). This is
/// decided once per process, from the environment: only for concurrency jobs that communicate, and
/// for probes whose schema requests it.
int wanted_threads() {
  const char* loads = std::getenv("BENCH_PARAM_loads");
  const bool communicates = loads != nullptr && std::strstr(loads, "communication") != nullptr;
  const char* threads = std::getenv("BENCH_MPI_THREADS");
  const bool funneled = threads != nullptr && std::strcmp(threads, "funneled") == 0;
  return communicates || funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

/// Initialises MPI, and ends it after all groups of its ranks.
class MpiProcess {
 public:
  MpiProcess() {
    int level = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted_threads(), &level), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~MpiProcess() { MPI_Finalize(); }
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;
};

class MpiGroup final : public Group {
 public:
  /// Takes the communicator.
  MpiGroup(std::shared_ptr<MpiProcess> process, MPI_Comm control)
      : process_(std::move(process)), control_(control) {
    MPI_Comm_rank(control_, &rank_);
    MPI_Comm_size(control_, &size_);
    collectives_ = std::make_unique<MpiCollectives>(control_);
  }

  ~MpiGroup() override {
    collectives_.reset();
    MPI_Comm_free(&control_);
  }

  std::unique_ptr<Group> subgroup(int number) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(control_, number, rank_, &part), "MPI_Comm_split");
    return std::make_unique<MpiGroup>(process_, part);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void barrier() override { check_mpi(MPI_Barrier(control_), "MPI_Barrier"); }

  void broadcast(std::span<std::byte> data, int root) override {
    check_mpi(MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, control_),
              "MPI_Bcast");
  }

  void max(std::span<double> values) override { reduce(values, MPI_MAX); }
  void sum(std::span<double> values) override { reduce(values, MPI_SUM); }

  std::vector<std::string> gather(const std::string& text) override {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, control_),
              "MPI_Gather");
    std::vector<int> starts(lengths.size(), 0);
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] = starts[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
    check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                          MPI_CHAR, 0, control_),
              "MPI_Gatherv");
    std::vector<std::string> texts;
    if (rank_ == 0)
      for (std::size_t i = 0; i < starts.size(); ++i)
        texts.push_back(
            all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
  }

  Collectives* collectives() override { return collectives_.get(); }
  std::string library() const override { return library_version(); }

 private:
  void reduce(std::span<double> values, MPI_Op op) {
    constexpr std::size_t kMost = INT_MAX;  // of MPI's counts
    for (std::span part = values.first(std::min(kMost, values.size())); !part.empty();
         part = values.first(std::min(kMost, values.size()))) {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_DOUBLE,
                              op, control_),
                "MPI_Allreduce");
      values = values.subspan(part.size());
    }
  }

  std::shared_ptr<MpiProcess> process_;  // first, so that it ends last
  MPI_Comm control_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<MpiCollectives> collectives_;
};

}  // namespace
#endif

bool mpi_is_built() {
#ifdef BENCH_MPI
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Group> make_mpi_group() {
#ifdef BENCH_MPI
  auto process = std::make_shared<MpiProcess>();
  MPI_Comm all = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
  return std::make_unique<MpiGroup>(std::move(process), all);
#else
  throw Error(ErrorKind::environment, "built without MPI",
              "install libopenmpi-dev and rebuild, or use --group tcp");
#endif
}

}  // namespace bench
