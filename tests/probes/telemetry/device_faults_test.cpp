#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <stdexcept>

#include "core/error.h"
#include "probes/server/rank_server.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

/// Reports as it measures; throws where the job asks for it.
void meets_a_fault(State& state) {
  auto& device = static_cast<FakeDevice&>(state.device());
  device.next_faults = {{63, "Xid 63: memory row remapping", false}};
  if (state.flag("fatal")) device.next_faults.push_back({79, "Xid 79: fallen off the bus", true});
  if (state.flag("throws")) throw std::runtime_error("unspecified launch failure");
  state.value("time", 1.0);
}
constexpr MetricInfo kFaultMetrics[] = {{"time", Unit::second, Better::lower}};
const Declaration kFaultDeclaration("fault_test_probe", "Tests faults.", kFaultMetrics);
const Registration kFaultProbe("fault_test_probe", meets_a_fault);

struct ServedFault {
  std::vector<Json> faults;
  Outcome outcome;
};

Job fault_job(bool fatal, bool throws) {
  Job job;
  job.id = "1";
  job.probe = "fault_test_probe";
  job.params = {{"fatal", fatal}, {"throws", throws}};
  return job;
}

ServedFault serve_fault(bool fatal, bool throws) {
  FakeDevice device;
  device.next_faults = {{48, "Xid 48: of the job before", true}};
  CollectedRecords sink;
  const auto group = make_self_group();
  std::istringstream in(dump(to_json(fault_job(fatal, throws))) + "\n");
  RankServer(*group, device, sink).serve(in);
  ServedFault served;
  for (const Record& record : sink.records) {
    if (const auto* event = std::get_if<Event>(&record.body); event != nullptr) {
      CHECK(event->key == "device_fault");
      CHECK(record.job == "1");
      served.faults.push_back(event->value);
    }
    if (const auto* outcome = std::get_if<Outcome>(&record.body)) served.outcome = *outcome;
  }
  return served;
}

TEST_CASE("a device fault during a job is an event; earlier faults are not") {
  const ServedFault served = serve_fault(false, false);
  CHECK(served.outcome.status == Status::ok);
  REQUIRE(served.faults.size() == 1);
  CHECK(served.faults[0] == Json{{"code", 63},
                                 {"text", "Xid 63: memory row remapping"},
                                 {"fatal", false},
                                 {"device", "fake"},
                                 {"rank", 0}});
}

TEST_CASE("a fatal fault makes the job invalid, with the reason") {
  const ServedFault served = serve_fault(true, false);
  CHECK(served.faults.size() == 2);
  CHECK(served.outcome.status == Status::invalid);
  CHECK(served.outcome.reason == "Xid 79: fallen off the bus on fake, rank 0");
}

TEST_CASE("the reason of a failed job includes the driver's faults") {
  const ServedFault served = serve_fault(false, true);
  CHECK(served.outcome.status == Status::failed);
  CHECK(served.outcome.reason ==
        "internal error: unspecified launch failure; Xid 63: memory row remapping on fake, rank 0");
  CHECK(served.faults.size() == 1);
}

TEST_CASE("on a broken device jobs fail and are not skipped") {
  FakeDevice device;
  device.why_broken = "CUDA cannot be initialised on this host: cudaErrorSystemNotReady";
  CollectedRecords sink;
  const auto group = make_self_group();
  std::istringstream in(dump(to_json(fault_job(false, false))) + "\n");
  RankServer(*group, device, sink).serve(in);
  const auto& outcome = std::get<Outcome>(sink.records.back().body);
  CHECK(outcome.status == Status::failed);
  CHECK(outcome.reason == device.why_broken);
}

/// Tells through a pipe that an outcome was written.
class PipedOutcome final : public RecordSink {
 public:
  explicit PipedOutcome(int pipe) : pipe_(pipe) {}
  void write(Record record) override {
    const auto* outcome = std::get_if<Outcome>(&record.body);
    if (outcome != nullptr && ::write(pipe_, "failed", 6) != 6) _exit(7);
  }

 private:
  int pipe_;
};

TEST_CASE("a lost device ends its process, once the job has its outcome") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    FakeDevice device;
    device.is_lost = true;
    PipedOutcome sink(ends[1]);
    const auto group = make_self_group();
    std::istringstream in(dump(to_json(fault_job(false, true))) + "\n");
    RankServer(*group, device, sink).serve(in);
    _exit(8);  // it went on
  }
  close(ends[1]);
  std::array<char, 16> told{};
  CHECK(read(ends[0], told.data(), told.size()) == 6);
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(ExitCode::environment));
}

}  // namespace
}  // namespace bench
