// The probe `training` on a device whose memory is not the host's, with embedding tables in that.
#include <algorithm>
#include <thread>

#include "tests/probes/training_job.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// The host's, but it says that it is another's.
class OtherMemory final : public training::Memory {
 public:
  bool on_host() const override { return false; }
  void* allocate(std::int64_t bytes, const char* purpose) override {
    return host_->allocate(bytes, purpose);
  }
  void release(void* data) override { host_->release(data); }
  void* allocate_staging(std::int64_t bytes, const char* purpose) override {
    return host_->allocate_staging(bytes, purpose);
  }
  void release_staging(void* data) override { host_->release_staging(data); }
  void upload(const void* from, void* to, std::int64_t bytes) override {
    host_->upload(from, to, bytes);
  }
  void uploaded() override {}
  void download(const void* from, void* to, std::int64_t bytes) override {
    host_->download(from, to, bytes);
  }
  void synchronise() override {}

 private:
  std::shared_ptr<training::Memory> host_ = training::host_memory();
};

/// A GPU's set: no kernels for tables.
class OtherKernels final : public TrainingKernels {
 public:
  std::string name() const override { return "other"; }
  training::KernelSet make(Dtype dtype) override {
    training::KernelSet set = training::host_kernels(dtype);
    set.memory = memory_;
    set.bags = nullptr;
    return set;
  }
  training::KernelSet make_on_host(Dtype dtype) override { return training::host_kernels(dtype); }

 private:
  std::shared_ptr<training::Memory> memory_ = std::make_shared<OtherMemory>();
};

Json table_threads(const char* workload, TrainingKernels* kernels) {
  TrainingJob job(Json{{"workload", workload}, {"steps", 2}, {"batch", 32}, {"lanes", 1}});
  if (kernels != nullptr) job.device.fake_training_kernels = kernels;
  CHECK(job.run().status == Status::ok);
  return job.facts().at("table_threads");
}

}  // namespace

TEST_CASE("with a device tables are on the host, and the facts have the number of lookup threads") {
  OtherKernels device;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  CHECK(table_threads("dlrm", &device) == std::min(cores, 16u));
  CHECK(table_threads("dlrm", nullptr) == 1);  // the lane's own
  CHECK(table_threads("llm", &device).is_null());
}

}  // namespace bench
