#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("stress-ng: bogo operations per second by wall clock and by CPU time") {
  const CollectedImport sink = imported("stress-ng", "stress-ng/metrics.txt");
  CHECK(sink.value("bogo_op_rate", {{"stressor", "cpu"}}) == Approx(6134.21));
  CHECK(sink.value("bogo_op_rate_cpu_time", {{"stressor", "vm"}, {"instances", 2}}) ==
        Approx(60487.74));
  CHECK(sink.entries.size() == 4);
  CHECK(sink.entries.front().job.name == "cpu");
  CHECK(sink.entries.front().samples.unit == Unit::hertz);
  CHECK(sink.ends.empty());
}

TEST_CASE("stress-ng: the columns of --metrics-brief, without prefixes") {
  std::string text;
  std::istringstream lines(import_sample("stress-ng/metrics.txt"));
  for (std::string line; std::getline(lines, line);)
    text += line.substr(line.find("] ") + 2) + "\n";
  text = edited(edited(text, "        99.97          7424", ""), "        99.25        150144", "");
  CollectedImport sink;
  import_text("stress-ng", text, sink);
  CHECK(sink.value("bogo_op_rate", {{"stressor", "vm"}, {"instances", 2}}) == Approx(120071.11));
}

TEST_CASE("stress-ng: the rates of a failed stressor are failed, with its message") {
  const CollectedImport sink = imported("stress-ng", "stress-ng/failed.txt");
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].job.name == "vm");
  CHECK(has_part(sink.ends[0].reason, "detected 3 bit errors"));
  for (const auto& entry : sink.entries)
    CHECK(entry.samples.outcome == (entry.job.name == "vm" ? Status::failed : Status::ok));
  CollectedImport untrusted;
  import_text("stress-ng",
              edited(import_sample("stress-ng/metrics.txt"), "untrustworthy: 0",
                     "untrustworthy: 1: cpu (1)"),
              untrusted);
  CHECK(untrusted.of("bogo_op_rate", {{"stressor", "cpu"}}).at(0).samples.outcome ==
        Status::invalid);
  CollectedImport all;  // as versions before the list of failures print it
  import_text("stress-ng",
              edited(import_sample("stress-ng/metrics.txt"), "] successful", "] unsuccessful"),
              all);
  CHECK(all.ends.size() == 2);
}

TEST_CASE("stress-ng's YAML names host, time and version, but no failures") {
  const CollectedImport sink = imported("stress-ng", "stress-ng/metrics.yaml");
  CHECK(sink.value("bogo_op_rate", {{"stressor", "cpu"}, {"instances", 2}}) == Approx(6134.21));
  CHECK(sink.entries.front().job.hosts == std::vector<std::string>{"node07"});
  CHECK(sink.entries.front().job.time_ns == 1795199405000000000);
  CHECK(sink.facts_.at(0).facts["version"] == "0.22.00");
  CHECK(has_part(sink.all(), "does not state whether a stressor failed"));
}

TEST_CASE("truncated or unknown stress-ng output is refused") {
  const std::string whole = import_sample("stress-ng/metrics.txt");
  CHECK_THAT(refusal("stress-ng", whole.substr(0, whole.find("stress-ng: info:  [4321] passed"))),
             Contains("'run completed in'"));
  CHECK_THAT(refusal("stress-ng", whole.substr(0, whole.size() - 1)), Contains("may be truncated"));
  CHECK_THAT(refusal("stress-ng", edited(whole, "6134.21", "6134,21")), Contains("sample:5"));
  CHECK_THAT(refusal("stress-ng", edited(whole, "real time", "wall time")),
             Contains("not a known header"));
  CHECK_THAT(refusal("stress-ng", "stress-ng: info:  [1] failed to run\n"),
             Contains("no stress-ng results found"));
  const std::string yaml = import_sample("stress-ng/metrics.yaml");
  CHECK_THAT(refusal("stress-ng", yaml.substr(0, yaml.size() - 4)), Contains("ends its YAML"));
  CHECK_THAT(
      refusal("stress-ng", edited(yaml, "      bogo-ops-per-second-real-time: 6134.210000\n", "")),
      Contains("has 1 of 2 rates"));
}

}  // namespace
}  // namespace bench
