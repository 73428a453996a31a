// The time of a device in a trace, against a count of each unit of time.
#include "results/verdicts/profile/trace_breakdown.h"

#include <random>

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/trace_output.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Kind = DeviceWorkKind;

DeviceWork work_at(Kind kind, double begin, double end, std::int64_t correlation = -1) {
  return {0, kind, 0, 7, correlation, begin, end};
}

TraceBreakdown only_breakdown(const DeviceTrace& trace) {
  const auto all = breakdowns_of(trace);
  REQUIRE(all.size() == 1);
  return all.front();
}

std::vector<std::string> causes_of(const std::vector<TraceBreakdown>& all) {
  std::vector<std::string> causes;
  for (const TraceFinding& finding : findings_of(all)) causes.push_back(finding.cause);
  return causes;
}

using Causes = std::vector<std::string>;

}  // namespace

TEST_CASE("trace: parts of the time are those of each unit of it, and add up to the span") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    DeviceTrace trace{.file = "t", .names = {"k"}};
    std::vector<unsigned> running(120, 0);  // a bit for each kind
    const auto pieces = 1 + random() % 12;
    for (unsigned i = 0; i < pieces; ++i) {
      const auto kind = static_cast<Kind>(random() % 3);
      const unsigned begin = random() % 100, end = begin + 1 + random() % 15;
      trace.work.push_back(work_at(kind, begin, end));
      for (unsigned unit = begin; unit < end; ++unit)
        running[unit] |= 1u << static_cast<unsigned>(kind);
    }
    int first = -1, last = 0, compute = 0, communication = 0, copies = 0, all = 0;
    for (int unit = 0; unit < 120; ++unit) {
      const unsigned now = running[static_cast<std::size_t>(unit)];
      if (now == 0) continue;
      if (first < 0) first = unit;
      last = unit + 1;
      if ((now & 1u) != 0)
        ++compute;
      else if ((now & 2u) != 0)
        ++communication;
      else
        ++copies;
      if ((now & 2u) != 0) ++all;
    }
    const TraceBreakdown found = only_breakdown(trace);
    CHECK(found.span == last - first);
    CHECK(found.compute == compute);
    CHECK(found.exposed_communication == communication);
    CHECK(found.exposed_copies == copies);
    CHECK(found.communication == all);
    CHECK(found.idle_unknown == last - first - compute - communication - copies);
    CHECK(found.idle() == found.idle_unknown);
  }
}

TEST_CASE("trace: idle time is the host's, the launch's or the queue's") {
  DeviceTrace trace{.file = "t", .names = {"k"}};
  trace.work = {work_at(Kind::compute, 0, 10, 1), work_at(Kind::compute, 18, 20, 2),
                work_at(Kind::compute, 25, 30, 3), work_at(Kind::compute, 31, 32)};
  trace.calls = {{1, {-2, -1}}, {2, {14, 15}}, {3, {16, 17}}};
  const TraceBreakdown found = only_breakdown(trace);
  CHECK(found.idle_host == 5.0);      // of 10 to 15
  CHECK(found.idle_launch == 3.0);    // of 15 to 18
  CHECK(found.idle_queued == 5.0);    // 20 to 25, launched at 16
  CHECK(found.idle_unknown == 1.0);   // 30 to 31
  CHECK(found.launch_median == 3.0);  // of the second: the others found a busy stream, or -2 to 0
}

TEST_CASE("trace: an operation's own time is without those inside it") {
  DeviceTrace trace{.file = "t", .rank = 3, .names = {"outer", "inner"}};
  trace.operations = {{0, 1, 0, 10}, {1, 1, 2, 5}, {1, 1, 6, 7}, {1, 2, 0, 4}};
  const TraceBreakdown found = only_breakdown(trace);
  CHECK(found.device == -1);
  CHECK(name_of(found) == "rank 3");
  REQUIRE(found.operations.size() == 2);
  CHECK(found.operations[0].name == "inner");
  CHECK(found.operations[0].seconds == 8.0);
  CHECK(found.operations[1].seconds == 6.0);
}

TEST_CASE("trace: waits for launches, communication, copies and data are named") {
  DeviceTrace busy{.file = "t", .names = {"k"}};
  busy.work = {work_at(Kind::compute, 0, 100)};
  CHECK(causes_of(breakdowns_of(busy)).empty());
  DeviceTrace host = busy;
  host.work.push_back(work_at(Kind::compute, 115, 120, 1));
  host.calls = {{1, {113, 114}}};
  CHECK(causes_of(breakdowns_of(host)) == Causes{"launch_bound"});
  DeviceTrace communicates = busy;
  communicates.work.push_back(work_at(Kind::communication, 80, 120));
  CHECK(causes_of(breakdowns_of(communicates)) == Causes{"exposed_communication"});
  DeviceTrace copies = busy;
  copies.work.push_back(work_at(Kind::memory, 90, 110));
  CHECK(causes_of(breakdowns_of(copies)) == Causes{"exposed_copies"});
  DeviceTrace loads = busy;
  loads.steps = {{1, 0, 50}, {2, 50, 100}};
  loads.loading = {{0, 1, 45, 55}, {0, 2, 50, 53}, {0, 1, 200, 300}};
  CHECK(causes_of(breakdowns_of(loads)) == Causes{"input"});
}

TEST_CASE("trace: the rank that computes longer than the others is named") {
  std::vector<TraceBreakdown> all;
  for (int rank = 0; rank < 4; ++rank) {
    DeviceTrace trace{.file = "t", .rank = rank, .names = {"k"}};
    trace.work = {work_at(Kind::compute, 0, rank == 2 ? 99 : 90),
                  work_at(Kind::communication, rank == 2 ? 99 : 90, 100)};
    all.push_back(only_breakdown(trace));
  }
  const auto findings = findings_of(all);
  const auto straggler =
      std::ranges::find(findings, std::string("straggler"), &TraceFinding::cause);
  REQUIRE(straggler != findings.end());
  CHECK(straggler->text.starts_with("rank 2 computes 10.0 % longer"));
  CHECK(std::ranges::count(findings, std::string("straggler"), &TraceFinding::cause) == 1);
  const Json json = to_json(all);
  CHECK_NOTHROW(Schema::load(schema_path("report_profile_import")).check(json, "traces"));
  const std::string text = to_terminal(to_document(all), TextStyle{});
  CHECK(text.find("rank 2") != std::string::npos);
}

TEST_CASE("trace: a device that only copies is no rank to compare with") {
  DeviceTrace trace{.file = "t", .names = {"k"}};
  trace.work = {work_at(Kind::compute, 0, 10), work_at(Kind::memory, 0, 10)};
  trace.work[1].device = 1;
  const auto all = breakdowns_of(trace);
  REQUIRE(all.size() == 2);
  CHECK(causes_of(all) == Causes{"exposed_copies"});
  CHECK_NOTHROW(Schema::load(schema_path("report_profile_import")).check(to_json(all), "traces"));
}

TEST_CASE("trace: an empty trace and one of the host alone say so") {
  const auto text_of_trace = [](const DeviceTrace& trace) {
    return to_terminal(to_document(breakdowns_of(trace)), TextStyle{});
  };
  DeviceTrace trace{.file = "t", .names = {"k"}};
  CHECK(text_of_trace(trace).find("no work in these traces") != std::string::npos);
  trace.operations = {{0, 1, 0, 1}};
  CHECK(text_of_trace(trace).find("only on the host") != std::string::npos);
  // Without launches, and with one device, nothing can be said of them.
  trace.work = {work_at(Kind::compute, 0, 10, 1)};
  CHECK(text_of_trace(trace).find("do not have the launches") != std::string::npos);
  CHECK(text_of_trace(trace).find("straggler") == std::string::npos);
  trace.calls = {{1, {-2, -1}}};
  CHECK(text_of_trace(trace).find("no wait for launches") != std::string::npos);
}

TEST_CASE("trace: devices of one trace are separate") {
  DeviceTrace trace{.file = "t", .rank = 0, .names = {"k"}};
  trace.work = {work_at(Kind::compute, 0, 10), work_at(Kind::compute, 4, 8)};
  trace.work[1].device = 5;
  const auto all = breakdowns_of(trace);
  REQUIRE(all.size() == 2);
  CHECK(all[0].span == 10.0);
  CHECK(all[1].span == 4.0);
  CHECK(name_of(all[1]) == "rank 0, device 5");
}

TEST_CASE("trace: kernels have short names") {
  CHECK(short_kernel_name("void at::native::(anonymous namespace)::cat<int, 4>(int*, int)") ==
        "cat<int, 4>");
  CHECK(short_kernel_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)") ==
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  CHECK(short_kernel_name("volta_sgemm_128x64_nn") == "volta_sgemm_128x64_nn");
  CHECK(short_kernel_name("(") == "(");
  CHECK(kind_of_kernel("ncclDevKernel_Broadcast") == Kind::communication);
  CHECK(kind_of_kernel("mscclKernel_rcclThing") == Kind::communication);
  CHECK(kind_of_kernel("gemm_nn") == Kind::compute);
}

}  // namespace bench
