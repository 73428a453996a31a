// A fake device for tests: host memory that only the fake's calls and kernels can access, with host
// kernels working on it.
#pragma once

#include <map>
#include <memory>

#include "devices/group.h"
#include "training/kernels/kernel_set.h"
#include "training/parallel/training_kernels.h"

namespace bench::training {

/// Pages that are accessible only while the device is working.
class FakeDeviceMemory final : public Memory {
 public:
  ~FakeDeviceMemory() override;
  bool on_host() const override { return false; }
  void* allocate(std::int64_t bytes, const char*) override;
  void release(void* data) override;
  void* allocate_staging(std::int64_t bytes, const char* purpose) override;
  void release_staging(void* data) override;
  void upload(const void* from, void* to, std::int64_t bytes) override;
  void uploaded() override {}
  void download(const void* from, void* to, std::int64_t bytes) override;
  void synchronise() override {}

  template <class Work>
  void at_work(const Work& work) {
    const bool inner = works_;
    if (!inner) protect(true);
    work();
    if (!inner) protect(false);
  }

 private:
  void protect(bool works);

  bool works_ = false;
  std::map<void*, std::size_t> blocks_;
};

struct FakeDevice {
  std::shared_ptr<FakeDeviceMemory> memory = std::make_shared<FakeDeviceMemory>();
  int pieces = 0;  // of steps, that a device would have recorded

  /// The host's; it must outlive them.
  KernelSet kernels(Dtype dtype);
  /// Other kernels of the host, for tensors that lie here.
  KernelSet at_work(KernelSet set);
  /// Over the group's data plane: each piece at once, or all of them when the stream is waited for,
  /// which are the soonest and the latest that a device may do them. Device and group must outlive
  /// it.
  enum class Does { at_once, at_last };
  std::unique_ptr<ExchangeStream> stream(Group& group, Dtype dtype, Does when);
};

}  // namespace bench::training
