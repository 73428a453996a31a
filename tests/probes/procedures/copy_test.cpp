#include "devices/copies.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

constexpr double kRate = 50e9;

/// Copies at fifty gigabytes a second each way.
class FakeCopies final : public Copies {
 public:
  explicit FakeCopies(FakeDevice& device) : device_(device) {}
  std::vector<int> peers() const override { return others; }
  std::vector<int> numa_nodes() const override { return {0, 1}; }
  CopyOffer prepare(const CopyRequest& request) override {
    asked.push_back(request);
    if (!reason.empty()) return {nullptr, reason};
    return {std::make_unique<Run>(*this, static_cast<double>(request.bytes) / kRate), ""};
  }

  std::vector<int> others;
  std::string reason;
  bool spoiled = false;
  std::vector<CopyRequest> asked;

 private:
  class Run final : public CopyRun {
   public:
    Run(FakeCopies& copies, double seconds) : copies_(copies), seconds_(seconds) {}
    void run(std::int64_t calls) override {
      copies_.device_.time += Seconds{seconds_ * static_cast<double>(calls)};
    }
    Check verify() override { return {"every word", copies_.spoiled ? 1.0 : 0.0, 0.0}; }

   private:
    FakeCopies& copies_;
    double seconds_;
  };
  FakeDevice& device_;
};

Json one_copy(const Json& params) {
  Json all = {{"routes", {"host_to_device"}}, {"memory", {"pinned"}}, {"sizes", {1 << 20}}};
  all.update(params);
  return all;
}

struct CopyJob : ProbeJob {
  FakeCopies fake{device};

  explicit CopyJob(const Json& params) : ProbeJob("copy", one_copy(params)) {
    device.fake_copies = &fake;
  }
};

TEST_CASE("a copy's bandwidth is its bytes over time, both directions together") {
  CopyJob job(Json{{"routes", {"host_to_device", "both"}}});
  CHECK(job.run().status == Status::ok);
  const auto samples = job.sink.samples();
  REQUIRE(samples.size() == 4);  // bandwidth and time of each
  CHECK(samples[0].values[0] == Approx(kRate));
  CHECK(samples[1].values[0] == Approx((1 << 20) / kRate));
  CHECK(samples[2].values[0] == Approx(2 * kRate));
}

TEST_CASE("every kind of host memory, node and peer is a series of its own") {
  CopyJob job(Json{{"routes", {"device_to_host", "peer_read", "inside"}},
                   {"memory", {"pinned", "pageable"}},
                   {"numa", "each"}});
  job.fake.others = {1, 2, 3};
  job.run();
  REQUIRE(job.fake.asked.size() == 2 * 2 + 3 + 1);
  CHECK(job.fake.asked[1].numa_node == 1);
  CHECK(job.fake.asked[4].peer == 1);
  const Json inside = job.sink.samples().back().params;
  CHECK(inside == Json{{"route", "inside"}, {"size_bytes", 1 << 20}});
}

TEST_CASE("a wrong byte makes the series invalid") {
  CopyJob job(Json::object());
  job.fake.spoiled = true;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("unsupported copies are skipped with the reason") {
  CopyJob alone(Json{{"routes", {"peer_write"}}});
  CHECK(alone.run().status == Status::skipped);
  CHECK(alone.sink.samples().at(0).reason == "this host has no other device");
  CopyJob refused(Json::object());
  refused.fake.reason = "GPU 0 has no peer access to GPU 1";
  CHECK(refused.run().reason == refused.fake.reason);
  CopyJob host(Json::object());
  host.device.fake_copies = nullptr;
  CHECK(host.run().status == Status::skipped);
}

}  // namespace
}  // namespace bench
