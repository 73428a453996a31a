// Several ranks that serve one job.
#include "probes/rank_server.h"

#include <sstream>

#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// The host, but for the last rank, which has no device.
class DeviceOfSome final : public Device {
 public:
  explicit DeviceOfSome(bool there) : there_(there) {}
  std::string kind() const override { return host_->kind(); }
  std::string id() const override { return host_->id(); }
  std::string absent() const override { return there_ ? "" : "no device for this rank"; }
  Seconds now() override { return host_->now(); }
  std::optional<Hertz> clock() override { return {}; }
  ThreadWatch& watch() override { return host_->watch(); }
  int cores() const override { return host_->cores(); }

 private:
  bool there_;
  std::unique_ptr<Device> host_ = make_host_device();
};

TEST_CASE("a job is skipped on every rank when one has no device, and says why") {
  Group& group = mpi_test_group();
  DeviceOfSome device(group.rank() + 1 < group.size());
  CollectedRecords sink;
  Job job;
  job.id = "01.a";
  job.probe = "collective";
  job.ranks = group.size();
  std::istringstream in(group.rank() == 0 ? dump(to_json(job)) + "\n" : "");
  RankServer(group, device, sink).serve(in);
  if (group.rank() != 0) return;
  REQUIRE_FALSE(sink.records.empty());
  const auto& outcome = std::get<Outcome>(sink.records.back().body);
  CHECK(outcome.status == Status::skipped);
  CHECK(outcome.reason == "no device for this rank");
}

TEST_CASE("ranks that share a host tell its counters of errors once") {
  Group& group = mpi_test_group();
  const auto device = make_host_device();
  CollectedRecords sink;
  Job job;
  job.id = "01.a";
  job.probe = "null";
  job.params = {{"value", 1.0}, {"noise", 0.0}, {"samples", 1}, {"outcome", "ok"}};
  job.ranks = group.size();
  job.telemetry.counters = true;
  std::istringstream in(group.rank() == 0 ? dump(to_json(job)) + "\n" : "");
  RankServer(group, *device, sink).serve(in);
  if (group.rank() != 0) return;
  int told = 0;
  for (const Record& record : sink.records)
    if (const auto* facts = std::get_if<Facts>(&record.body);
        facts != nullptr && facts->topic == "counters") {
      ++told;
      CHECK(facts->facts.at("hosts").size() == 1);
    }
  CHECK(told == 1);
}

}  // namespace
}  // namespace bench
