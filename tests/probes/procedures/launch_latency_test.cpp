#include "devices/launches.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

/// A launch takes two microseconds, a wait eight; the device itself is never busy.
class FakeLaunches final : public Launches {
 public:
  explicit FakeLaunches(FakeDevice& device) : device_(device) {}
  std::unique_ptr<LaunchRun> prepare(LaunchKind, bool wait_each) override {
    return std::make_unique<Run>(*this, wait_each);
  }
  bool lost_one = false;

 private:
  class Run final : public LaunchRun {
   public:
    Run(FakeLaunches& launches, bool wait_each) : launches_(launches), wait_each_(wait_each) {}
    void run(std::int64_t calls) override {
      const double waits = wait_each_ ? static_cast<double>(calls) : 1.0;
      launches_.device_.time += Seconds{2e-6 * static_cast<double>(calls) + 8e-6 * waits};
    }
    Check verify() override { return {"kernels that ran", launches_.lost_one ? 1.0 : 0.0, 0.0}; }

   private:
    FakeLaunches& launches_;
    bool wait_each_;
  };
  FakeDevice& device_;
};

struct LaunchJob : ProbeJob {
  FakeLaunches fake{device};

  LaunchJob() : ProbeJob("launch_latency", {{"kinds", {"kernel", "wait"}}}) {}
};

TEST_CASE("launches are timed one by one and back to back, synchronisation only alone") {
  LaunchJob job;
  job.device.fake_launches = &job.fake;
  CHECK(job.run().status == Status::ok);
  const auto samples = job.sink.samples();
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].params == Json{{"kind", "kernel"}, {"wait", "each"}});
  CHECK(samples[0].values[0] == Approx(10e-6));
  CHECK(samples[1].params == Json{{"kind", "kernel"}, {"wait", "last"}});
  CHECK(samples[1].values[0] == Approx(2e-6).epsilon(0.05));
  CHECK(samples[2].params.at("kind") == "wait");
}

TEST_CASE("a kernel that did not run makes the series invalid") {
  LaunchJob job;
  job.device.fake_launches = &job.fake;
  job.fake.lost_one = true;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("the host skips launch latency") {
  LaunchJob job;
  CHECK(job.run().status == Status::skipped);
}

}  // namespace
}  // namespace bench
