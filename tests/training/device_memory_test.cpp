// The engine on memory that is not the host's, made of host memory that only the fake's own calls
// and kernels may touch.
#include <sys/mman.h>

#include <cstring>
#include <map>

#include "core/error.h"
#include "probes/training/backends/host/host_kernels.h"
#include "probes/training/engine/replica.h"
#include "probes/training/models/llm.h"
#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"

namespace bench::training {
namespace {

/// Pages that can be touched only while the device is at work.
class FakeDeviceMemory final : public Memory {
 public:
  ~FakeDeviceMemory() override { CHECK(blocks_.empty()); }
  bool on_host() const override { return false; }
  void* allocate(std::int64_t bytes, const char*) override {
    const auto size = static_cast<std::size_t>(bytes + kAlignment);
    void* data = mmap(nullptr, size, access_, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(data != MAP_FAILED);
    blocks_[data] = size;
    return data;
  }
  void release(void* data) override {
    munmap(data, blocks_.at(data));
    blocks_.erase(data);
  }
  void* allocate_staging(std::int64_t bytes, const char* purpose) override {
    return host_memory()->allocate(bytes, purpose);
  }
  void release_staging(void* data) override { host_memory()->release(data); }
  void upload(const void* from, void* to, std::int64_t bytes) override {
    at_work([&] { host_memory()->upload(from, to, bytes); });
  }
  void uploaded() override {}
  void download(const void* from, void* to, std::int64_t bytes) override {
    at_work([&] { host_memory()->download(from, to, bytes); });
  }
  void synchronise() override {}

  template <class Work>
  void at_work(const Work& work) {
    const bool inner = access_ != PROT_NONE;
    if (!inner) protect(PROT_READ | PROT_WRITE);
    work();
    if (!inner) protect(PROT_NONE);
  }

 private:
  void protect(int access) {
    access_ = access;
    for (const auto& [data, size] : blocks_) REQUIRE(mprotect(data, size, access) == 0);
  }
  int access_ = PROT_NONE;
  std::map<void*, std::size_t> blocks_;
};

class FakeRecorder final : public Recorder {
 public:
  FakeRecorder(FakeDeviceMemory& memory, int& pieces) : memory_(memory), pieces_(pieces) {}
  void run(const RecordingKey&, const std::function<void()>& work) override {
    memory_.at_work(work);
    ++pieces_;
  }

 private:
  FakeDeviceMemory& memory_;
  int& pieces_;
};

/// What the engine calls outside of recordings.
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

struct TrainedModel {
  std::vector<double> losses = {};
  std::vector<float> weights = {};
};

TrainedModel train_somewhere(const KernelFactory& kernels, Dtype dtype) {
  const Llm model = make_llm(llm_preset("tiny"), 2, dtype);
  const Plan plan = make_plan(*model.graph), evaluation = make_plan(*model.graph, false);
  Replica replica(plan, model.losses, kernels, make_adamw({}), {1, 2, 1});
  unsigned seed = 0;
  const auto fill = [&](const Lane& lane, int) {
    fill_ids(lane.view(model.tokens), 64, ++seed);
    fill_ids(lane.view(model.targets), 64, ++seed);
  };
  TrainedModel result;
  for (int i = 0; i < 3; ++i) result.losses.push_back(replica.step(fill, 3e-3).loss);
  Lane lane(evaluation, replica.weights(), kernels);
  fill(lane, 0);
  lane.forward({});
  result.losses.push_back(sum_of_losses(lane.view(model.losses)));
  const Weights here = replica.weights().on_host();
  const View all = here.all();
  result.weights.resize(static_cast<std::size_t>(all.elements()) * size_of(dtype) / sizeof(float));
  std::memcpy(result.weights.data(), all.data, sizeof(float) * result.weights.size());
  return result;
}

}  // namespace

TEST_CASE("a model trains the same, to the bit, in memory that the host cannot touch") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    const auto memory = std::make_shared<FakeDeviceMemory>();
    int pieces = 0;
    const auto kernels = [&](Dtype of) {
      KernelSet set = host_kernels(of);
      set.memory = memory;
      set.loss = std::make_unique<FakeLoss>(std::move(set.loss), *memory);
      set.optimizer = std::make_unique<FakeUpdates>(std::move(set.optimizer), *memory);
      set.recorder = std::make_unique<FakeRecorder>(*memory, pieces);
      return set;
    };
    const TrainedModel there = train_somewhere(kernels, dtype);
    const TrainedModel here = train_somewhere([](Dtype of) { return host_kernels(of); }, dtype);
    CHECK(pieces == 3 * 2 * 2 + 1);
    CHECK(there.losses == here.losses);
    CHECK(std::memcmp(there.weights.data(), here.weights.data(), 4 * here.weights.size()) == 0);
  }
}

TEST_CASE("a device has one lane") {
  const Llm model = make_llm(llm_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph);
  const auto memory = std::make_shared<FakeDeviceMemory>();
  const auto kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.memory = memory;
    return set;
  };
  CHECK_THROWS_WITH(Replica(plan, model.losses, kernels, make_adamw({}), {2, 1, 1}),
                    Catch::Matchers::Contains("2 lanes on a device"));
}

}  // namespace bench::training
