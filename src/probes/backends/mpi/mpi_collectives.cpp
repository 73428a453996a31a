#include "probes/backends/mpi/mpi_collectives.h"

#ifdef BENCH_MPI

#include <climits>

#include "core/error.h"
#include "probes/backends/mpi/mpi_check.h"

namespace bench {
namespace {

bool sums(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter ||
         op == CollectiveOp::reduce;
}

/// The 16-bit floats are none of MPI's: words, which an operation that sums must not be given.
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
      throw Error(ErrorKind::input, "MPI is not measured in " + std::string(to_string(dtype)),
                  "use f32, f64, bf16, f16, int8, int32 or int64");
  }
}

}  // namespace

MpiCollectives::MpiCollectives() {
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

void MpiCollectives::disconnect() {
  if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

void MpiCollectives::connect(const PathRequest&) {
  disconnect();
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
  ++connections_;
}

Overlap* MpiCollectives::overlap() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED) return nullptr;
  if (!overlap_) overlap_ = std::make_unique<HostOverlap>();
  return overlap_.get();
}

MpiCollectives::~MpiCollectives() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::string_view MpiCollectives::obstacle(CollectiveOp op, Dtype dtype, bool in_place) const {
  if (in_place && (op == CollectiveOp::broadcast || op == CollectiveOp::send_recv))
    return "MPI has no in-place form of it";
  if (sums(op) && (dtype == Dtype::bf16 || dtype == Dtype::f16)) return "MPI cannot sum this type";
  return "";
}

void MpiCollectives::run(CollectiveOp op, const void* send, void* recv, std::size_t count,
                         Dtype dtype) {
  if (count > INT_MAX)
    throw Error(ErrorKind::input, std::to_string(count) + " elements are more than MPI counts",
                "use a smaller size");
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
      // Rank 0 sends what it has; the others receive. Out of place does not exist in MPI.
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

}  // namespace bench

#endif
