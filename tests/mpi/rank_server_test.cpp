// Several ranks that serve one job.
#include "probes/server/rank_server.h"

#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// The host, under another name; absent where it says why.
class NamedDevice final : public Device {
 public:
  NamedDevice(std::string kind, std::string id, std::string absent)
      : kind_(std::move(kind)), id_(std::move(id)), absent_(std::move(absent)) {}
  std::string kind() const override { return kind_; }
  std::string id() const override { return id_; }
  std::string absent() const override { return absent_; }
  Seconds now() override { return host_->now(); }
  std::optional<Hertz> clock() override { return {}; }
  ThreadWatch& watch() override { return host_->watch(); }
  int cores() const override { return host_->cores(); }

 private:
  std::string kind_, id_, absent_;
  std::unique_ptr<Device> host_ = make_host_device();
};

/// What rank 0 told of one job; {} on the others.
std::optional<Outcome> outcome_on(Device& device) {
  Group& group = mpi_test_group();
  CollectedRecords sink;
  Job job;
  job.id = "01.a";
  job.probe = "null";
  job.params = {{"value", 1.0}, {"noise", 0.0}, {"samples", 1}, {"outcome", "ok"}};
  job.device = device.kind();
  job.ranks = group.size();
  std::istringstream in(group.rank() == 0 ? dump(to_json(job)) + "\n" : "");
  RankServer(group, device, sink).serve(in);
  if (group.rank() != 0 || sink.records.empty()) return {};
  return std::get<Outcome>(sink.records.back().body);
}

TEST_CASE("a job is skipped on every rank with the reason if one has no device") {
  Group& group = mpi_test_group();
  const bool there = group.rank() + 1 < group.size();
  NamedDevice device("host", "cpu", there ? "" : "no device for this rank");
  const auto outcome = outcome_on(device);
  CHECK(outcome.has_value() == (group.rank() == 0));
  if (!outcome) return;
  CHECK(outcome->status == Status::skipped);
  CHECK(outcome->reason == "no device for this rank");
}

TEST_CASE("ranks that would share a GPU are not measured") {
  Group& group = mpi_test_group();
  NamedDevice own("cuda", "GPU-" + std::to_string(group.rank()), "");
  if (const auto outcome = outcome_on(own)) CHECK(outcome->status == Status::ok);
  NamedDevice shared("cuda", "GPU-0", "");
  const auto outcome = outcome_on(shared);
  if (!outcome || group.size() == 1) return;
  CHECK(outcome->status == Status::skipped);
  CHECK(outcome->reason.starts_with("ranks 0 and 1 share one GPU: "));
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
