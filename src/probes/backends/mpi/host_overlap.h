// Communication in the calling thread, computation in a thread beside it, which lives as long as
// this: threads of libraries that a computation brings along are made once.
#pragma once

#include <atomic>
#include <exception>
#include <thread>

#include "probes/device/collectives.h"

namespace bench {

class HostOverlap final : public Overlap {
 public:
  /// The thread may run where the calling one may run now.
  HostOverlap();
  ~HostOverlap() override;
  HostOverlap(const HostOverlap&) = delete;
  HostOverlap& operator=(const HostOverlap&) = delete;

  /// What `work` throws is thrown here.
  void beside(const std::function<void()>& work) override;
  void together(const std::function<void()>& communicate,
                const std::function<void()>& compute) override;
  Parts last_parts() override { return parts_; }

 private:
  enum class Turn { caller, thread, end };
  void serve();
  void start(const std::function<void()>& work);
  void wait();

  std::atomic<Turn> turn_{Turn::caller};
  const std::function<void()>* work_ = nullptr;  // of the turn
  std::exception_ptr failure_;                   // of the last turn
  Seconds took_;                                 // in the last turn
  Parts parts_{};
  std::thread thread_;  // last, so that it finds the rest made
};

}  // namespace bench
