// Looks at a communicator alongside whoever uses it. NCCL's own threads, which drive the network, only
// note their errors: a kernel on the GPU goes on spinning, no call returns one, and all ranks would
// wait until the job's deadline.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#ifdef BENCH_NCCL
#include <nccl.h>
#endif

namespace bench {
#ifdef BENCH_NCCL

class NcclWatch {
 public:
  /// Once the communicator has failed, says so and ends this process, as an error that is thrown
  /// among several ranks does; the launcher ends the others. To be gone before the communicator is.
  explicit NcclWatch(ncclComm_t communicator);
  ~NcclWatch();
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

 private:
  void watch();

  const ncclComm_t communicator_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

#endif

}  // namespace bench
