// The collective operations over MPI, on buffers in host memory.
#pragma once

#ifdef BENCH_MPI

#include <mpi.h>

#include "probes/backends/mpi/host_overlap.h"
#include "probes/device/collectives.h"

namespace bench {

class MpiCollectives final : public Collectives {
 public:
  MpiCollectives();
  ~MpiCollectives() override;
  /// A communicator of its own, and a barrier in it.
  void connect(const PathRequest& paths) override;
  void disconnect() override;
  int connections() const override { return connections_; }
  std::string_view obstacle(CollectiveOp op, Dtype dtype, bool in_place) const override;
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override;
  Overlap* overlap() override;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // apart from the control plane's
  int rank_ = 0;
  int size_ = 1;
  int connections_ = 0;
  std::unique_ptr<HostOverlap> overlap_;
};

}  // namespace bench

#endif
