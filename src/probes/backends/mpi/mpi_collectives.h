// The collective operations over MPI, on buffers in host memory.
#pragma once

#ifdef BENCH_MPI

#include <mpi.h>

#include "probes/device/collectives.h"

namespace bench {

class MpiCollectives final : public Collectives {
 public:
  MpiCollectives();
  ~MpiCollectives() override;
  std::string_view obstacle(CollectiveOp op, Dtype dtype, bool in_place) const override;
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // apart from the control plane's
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace bench

#endif
