#include "tests/training/fake_device.h"

#include <sys/mman.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "devices/host_clock.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

void must(bool held, const char* what) {
  if (!held) throw std::runtime_error(std::string("the fake device: ") + what);
}

/// Does pieces of plans call by call; updates are recorded the first time and replayed from then
/// on, with the arguments they had.
class FakeRecorder final : public Recorder {
 public:
  FakeRecorder(FakeDevice& device, std::vector<std::function<void()>>& calls)
      : device_(device), calls_(calls) {}
  void run(const RecordingKey& key, const std::function<void()>& work) override {
    ++device_.pieces;
    device_.memory->at_work([&] {
      if (key == RecordingKey::of_update(false)) return replay(work);
      work();
      calls_.clear();
    });
  }

 private:
  void replay(const std::function<void()>& work) {
    if (recorded_.empty()) {
      work();
      recorded_ = std::exchange(calls_, {});
      return;
    }
    for (const auto& call : recorded_) call();
  }

  FakeDevice& device_;
  std::vector<std::function<void()>>& calls_;  // of updates, since the last piece
  std::vector<std::function<void()>> recorded_ = {};
};

// What the engine calls outside of recordings.

class FakeElementwise final : public ElementwiseKernels {
 public:
  FakeElementwise(std::unique_ptr<ElementwiseKernels> real, FakeDeviceMemory& memory)
      : real_(std::move(real)), memory_(memory) {}
  void add(View a, View b, View y) override {
    memory_.at_work([&] { real_->add(a, b, y); });
  }
  void copy(View x, View y, bool add) override {
    memory_.at_work([&] { real_->copy(x, y, add); });
  }
  void column_sums(View x, View sums, bool add) override {
    memory_.at_work([&] { real_->column_sums(x, sums, add); });
  }

 private:
  std::unique_ptr<ElementwiseKernels> real_;
  FakeDeviceMemory& memory_;
};

class FakeLoss final : public LossKernels {
 public:
  FakeLoss(std::unique_ptr<LossKernels> real, FakeDeviceMemory& memory)
      : real_(std::move(real)), memory_(memory) {}
  void cross_entropy(View logits, View targets, double scale, View losses) override {
    real_->cross_entropy(logits, targets, scale, losses);
  }
  void add_up(View losses, View sum, bool add) override {
    memory_.at_work([&] { real_->add_up(losses, sum, add); });
  }

 private:
  std::unique_ptr<LossKernels> real_;
  FakeDeviceMemory& memory_;
};

class FakeUpdates final : public OptimizerKernels {
 public:
  FakeUpdates(std::unique_ptr<OptimizerKernels> real, FakeDeviceMemory& memory)
      : real_(std::move(real)), memory_(memory) {}
  void adamw(const AdamwRange& range) override {
    call([this, range] { real_->adamw(range); });
  }
  void momentum(const MomentumRange& range) override {
    call([this, range] { real_->momentum(range); });
  }
  void adagrad_rows(const AdagradRows& rows) override { real_->adagrad_rows(rows); }
  double square_sum(View x) override {
    double sum = 0.0;
    memory_.at_work([&] { sum = real_->square_sum(x); });
    return sum;
  }

  /// Calls for a recorder.
  std::vector<std::function<void()>>& calls() { return calls_; }

 private:
  void call(std::function<void()> work) {
    memory_.at_work(work);
    calls_.push_back(std::move(work));
  }

  std::vector<std::function<void()>> calls_ = {};
  std::unique_ptr<OptimizerKernels> real_;
  FakeDeviceMemory& memory_;
};

class FakeStream final : public ExchangeStream {
 public:
  FakeStream(FakeDevice& device, Group& group, Dtype dtype, FakeDevice::Does when)
      : memory_(*device.memory),
        collectives_(*group.collectives()),
        kernels_(host_kernels(dtype)),
        when_(when) {}
  Collectives& collectives() override { return collectives_; }
  ElementwiseKernels& elementwise() override { return *kernels_.elementwise; }
  void enqueue(const std::function<void()>& work) override {
    work_.push_back(work);
    if (when_ == FakeDevice::Does::at_once) finish();
  }
  Seconds finish() override {
    const Seconds begin = steady_now();
    for (const auto& work : std::exchange(work_, {})) memory_.at_work(work);
    return steady_now() - begin;
  }

 private:
  FakeDeviceMemory& memory_;
  Collectives& collectives_;
  KernelSet kernels_;
  FakeDevice::Does when_;
  std::vector<std::function<void()>> work_ = {};
};

}  // namespace

// Ends the program where something was not released: a test must not pass then.
FakeDeviceMemory::~FakeDeviceMemory() { must(blocks_.empty(), "memory was not released"); }

void* FakeDeviceMemory::allocate(std::int64_t bytes, const char*) {
  const auto size = static_cast<std::size_t>(bytes + kAlignment);
  const int access = works_ ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* data = mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(data != MAP_FAILED, "no memory");
  blocks_[data] = size;
  return data;
}

void FakeDeviceMemory::release(void* data) {
  munmap(data, blocks_.at(data));
  blocks_.erase(data);
}

void* FakeDeviceMemory::allocate_staging(std::int64_t bytes, const char* purpose) {
  return host_memory()->allocate(bytes, purpose);
}

void FakeDeviceMemory::release_staging(void* data) { host_memory()->release(data); }

void FakeDeviceMemory::upload(const void* from, void* to, std::int64_t bytes) {
  at_work([&] { host_memory()->upload(from, to, bytes); });
}

void FakeDeviceMemory::download(const void* from, void* to, std::int64_t bytes) {
  at_work([&] { host_memory()->download(from, to, bytes); });
}

void FakeDeviceMemory::protect(bool works) {
  works_ = works;
  for (const auto& [data, size] : blocks_)
    must(mprotect(data, size, works ? PROT_READ | PROT_WRITE : PROT_NONE) == 0, "mprotect failed");
}

KernelSet FakeDevice::kernels(Dtype dtype) { return at_work(host_kernels(dtype)); }

KernelSet FakeDevice::at_work(KernelSet set) {
  set.memory = memory;
  set.elementwise = std::make_unique<FakeElementwise>(std::move(set.elementwise), *memory);
  set.loss = std::make_unique<FakeLoss>(std::move(set.loss), *memory);
  auto updates = std::make_unique<FakeUpdates>(std::move(set.optimizer), *memory);
  set.recorder = std::make_unique<FakeRecorder>(*this, updates->calls());
  set.optimizer = std::move(updates);
  return set;
}

std::unique_ptr<ExchangeStream> FakeDevice::stream(Group& group, Dtype dtype, Does when) {
  return std::make_unique<FakeStream>(*this, group, dtype, when);
}

}  // namespace bench::training
