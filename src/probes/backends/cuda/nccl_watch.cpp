#include "probes/backends/cuda/nccl_watch.h"

#include <chrono>
#include <cstdlib>

#include "core/error.h"
#include "core/log.h"
#include "probes/backends/cuda/nccl_check.h"

namespace bench {
#ifdef BENCH_NCCL
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};

void leave(const std::string& why) {
  say(Level::error, why);
  std::_Exit(static_cast<int>(ExitCode::environment));
}

}  // namespace

NcclWatch::NcclWatch(ncclComm_t communicator)
    : communicator_(communicator), thread_([this] { watch(); }) {}

NcclWatch::~NcclWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void NcclWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenLooks, [this] { return over_; })) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &state);
    try {
      check_nccl(asked == ncclSuccess ? state : asked, communicator_, "NCCL's network");
    } catch (const Error& error) {
      leave(error.what());
    }
  }
}

#endif

}  // namespace bench
