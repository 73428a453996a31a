#include "devices/host/host_device.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

/// The probe on this machine's processors, measured as briefly as the sampler allows.
struct AtomicAddJob : ProbeJob {
  std::unique_ptr<Device> host = make_host_device();

  explicit AtomicAddJob(const Json& params) : ProbeJob("atomic_add", params) {
    job.measure.max_time_s = 0.01;
    job.measure.warm_up_max_s = 0.01;
  }

  Outcome run_on_host() { return run_on(*host, *group); }
};

TEST_CASE("atomic_add measures one thread and all threads and verifies every increment") {
  AtomicAddJob job(Json::object());
  CHECK(job.run_on_host().status == Status::ok);
  std::size_t measured = 0;
  for (const Samples& samples : job.of("throughput")) {
    if (samples.outcome == Status::skipped) continue;
    ++measured;
    INFO(samples.params);
    CHECK(samples.unit == Unit::op_per_second);
    REQUIRE_FALSE(samples.values.empty());
    CHECK(samples.values[0] > 0.0);
    REQUIRE(samples.check);
    CHECK(samples.check->passed());
  }
  // One core: private counters only. More: private on one and on all, shared on all.
  CHECK(measured == (job.host->cores() > 1 ? 3U : 1U));
}

TEST_CASE("atomic_add finds a lost increment") {
  AtomicAddJob job(Json{{"lost", 1}});
  CHECK(job.run_on_host().status == Status::invalid);
}

TEST_CASE("atomic_add skips contention on one thread") {
  AtomicAddJob job(Json{{"counters", {"shared"}}, {"threads", {1}}});
  CHECK(job.run().status == Status::skipped);
  CHECK(job.of("throughput").at(0).outcome == Status::skipped);
}

}  // namespace
}  // namespace bench
