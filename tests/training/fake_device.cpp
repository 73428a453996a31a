#include "tests/training/fake_device.h"

#include <sys/mman.h>

#include <stdexcept>
#include <utility>

#include "probes/training/backends/host/host_kernels.h"

namespace bench::training {
namespace {

void must(bool held, const char* what) {
  if (!held) throw std::runtime_error(std::string("the fake device: ") + what);
}

class FakeRecorder final : public Recorder {
 public:
  explicit FakeRecorder(FakeDevice& device) : device_(device) {}
  void run(const RecordingKey&, const std::function<void()>& work) override {
    device_.memory->at_work(work);
    ++device_.pieces;
  }

 private:
  FakeDevice& device_;
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
    memory_.at_work([&] { real_->adamw(range); });
  }
  void sgd(const SgdRange& range) override {
    memory_.at_work([&] { real_->sgd(range); });
  }
  void adagrad_rows(const AdagradRows& rows) override { real_->adagrad_rows(rows); }
  double square_sum(View x) override {
    double sum = 0.0;
    memory_.at_work([&] { sum = real_->square_sum(x); });
    return sum;
  }

 private:
  std::unique_ptr<OptimizerKernels> real_;
  FakeDeviceMemory& memory_;
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
  set.optimizer = std::make_unique<FakeUpdates>(std::move(set.optimizer), *memory);
  set.recorder = std::make_unique<FakeRecorder>(*this);
  return set;
}

}  // namespace bench::training
