#include <filesystem>

#include "core/json.h"
#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("SuperBench: units come from its documentation, ranks are parameters") {
  const CollectedImport sink = imported("superbench", "superbench/results-summary.jsonl");
  const auto launch = sink.of("kernel-launch/event_time", {{"rank", 1}});
  REQUIRE(launch.size() == 3);
  CHECK(launch[0].samples.values[0] == Approx(5.411e-6));
  CHECK(launch[0].samples.better == Better::lower);
  CHECK(launch[0].job.hosts == std::vector<std::string>{"sb-01"});
  CHECK(launch[0].job.name == "kernel-launch");
  const auto gemm = sink.of("gemm-flops/fp32_flops", {{"rank", 0}});
  CHECK(gemm.at(0).samples.values[0] == Approx(18363.1e9));
  CHECK(gemm.at(0).samples.unit == Unit::flop_per_second);
  CHECK(sink.of("nccl-bw:nvlink/allreduce_8589934592_busbw").at(2).samples.values[0] ==
        Approx(232.26e9));
  CHECK(sink.of("gpt_models/pytorch-gpt2-large/steptime_train_float16").at(0).samples.unit ==
        Unit::second);
}

TEST_CASE("SuperBench: a return code is an outcome, null is skipped, an unknown unit is reported") {
  const CollectedImport sink = imported("superbench", "superbench/results-summary.jsonl");
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].job.hosts == std::vector<std::string>{"sb-03"});
  CHECK(sink.ends[0].reason == "SuperBench: return code 124 of rank 0");
  CHECK(sink.of("ib-loopback/ib_write_bw_8388608").size() == 2);
  const auto score = sink.of("my-benchmark/score");
  CHECK(score.at(0).samples.unit == Unit::count);
  CHECK(score.at(0).samples.better == Better::none);
  CHECK(has_part(sink.all(), "unknown unit for 1 metrics, the first being 'my-benchmark/score'"));
}

TEST_CASE("SuperBench's sample is read, if present next to the checkout") {
  const std::filesystem::path file =
      "../shared/data/statistics/superbench/test_generate_baseline_results.jsonl";
  if (!std::filesystem::exists(file)) {
    WARN("skipped: there is no " << file.string());
    return;
  }
  CollectedImport sink;
  import_text("superbench", read_file(file), sink);
  const auto launch = sink.of("kernel-launch/event_time", {{"rank", 0}});
  REQUIRE(launch.size() == 3);
  CHECK(launch[0].job.hosts == std::vector<std::string>{"sb-validation-01"});
  CHECK(launch[0].samples.values[0] == Approx(5.42e-6));
  CHECK(sink.of("mem-bw/h2d_bw", {{"rank", 2}})[0].samples.values[0] == Approx(26.2e9));
  CHECK(sink.notes.empty());
  CHECK(sink.ends.empty());
}

TEST_CASE("lines that SuperBench does not write are refused") {
  const std::string whole = import_sample("superbench/results-summary.jsonl");
  CHECK_THAT(refusal("superbench", whole.substr(0, whole.size() - 1)),
             Contains("may be truncated"));
  CHECK(refusal("superbench", whole.substr(0, whole.size() - 30)) != "");
  CHECK_THAT(refusal("superbench", whole + whole), Contains("a node of an earlier line"));
  CHECK_THAT(refusal("superbench", edited(whole, "18363.1", "\"18363.1\"")),
             Contains("not a number"));
  CHECK_THAT(refusal("superbench", edited(whole, "sb-01", "$(reboot)")), Contains("host name"));
  CHECK_THAT(refusal("superbench", edited(whole, "my-benchmark/score", "score")),
             Contains("'score' is not 'benchmark/metric'"));
  CHECK_THAT(refusal("superbench", "{\"node\":\"a\",\"b/c\":1,\"b/c\":2}\n"),
             Contains("duplicate key"));
}

TEST_CASE("ReFrame: each session of a performance log is a run, thresholds give the direction") {
  const CollectedImport sink = imported("reframe", "reframe/stream_test.log");
  const auto gnu = sink.of("copy_bw", {{"environ", "gnu"}});
  REQUIRE(gnu.size() == 2);
  CHECK(gnu[0].samples.values[0] == Approx(21116.7e6));
  CHECK(gnu[0].samples.better == Better::higher);
  CHECK(gnu[0].job.run == "1");
  CHECK(gnu[1].job.run == "2");
  CHECK(gnu[0].job.hosts == std::vector<std::string>{"nid001", "nid002"});
  CHECK(gnu[0].job.ranks == 2);
  CHECK(gnu[0].job.time_ns / 1'000'000'000 == 1795128676);
  CHECK(sink.of("elapsed")[0].samples.better == Better::lower);
  CHECK(sink.of("copy_bw", {{"environ", "clang"}})[0].job.run == "1");
  REQUIRE(sink.ends.size() == 1);  // a row without values
  CHECK(sink.ends[0].job.run == "2");
  CHECK_FALSE(has_part(sink.all(), "hunter2"));  // env_vars stays out
}

TEST_CASE("ReFrame: separator and columns come from the header") {
  const CollectedImport sink = imported("reframe", "reframe/short.log");
  CHECK(sink.value("triad_bw", {{"environ", "clang"}}) == Approx(8370.0e6));
  CHECK(sink.entries.front().job.hosts.empty());
  CHECK(sink.entries.front().samples.params["system:partition"] == "cluster:compute");
}

TEST_CASE("a truncated or ambiguous performance log is refused") {
  const std::string whole = import_sample("reframe/short.log");
  CHECK_THAT(refusal("reframe", whole.substr(0, whole.size() - 3)), Contains("may be truncated"));
  CHECK_THAT(refusal("reframe", edited(whole, "copy_bw_unit", "copy_bw_note")),
             Contains("no unit for the variable 'copy_bw'"));
  CHECK_THAT(refusal("reframe", edited(whole, "MB/s", "parsecs")), Contains("unknown unit"));
  CHECK_THAT(refusal("reframe", edited(whole, "11527.4", "11527,4")), Contains("9 columns"));
  CHECK_THAT(refusal("reframe", edited(whole, "2026-11-20T", "20.11.2026 ")),
             Contains("unreadable time"));
  CHECK_THAT(refusal("reframe", edited(whole, "triad_bw_value", "copy_bw_value")),
             Contains("twice"));
}

TEST_CASE("csv: one row per value, with run and time") {
  const CollectedImport sink = imported("csv", "csv/history.csv");
  CHECK(sink.entries.size() == 12);
  const auto triad = sink.of("bandwidth", {{"kernel", "triad"}});
  REQUIRE(triad.size() == 6);
  CHECK(triad[2].job.run == "night1");
  CHECK(triad[2].job.tool == "memory");
  CHECK(triad[2].samples.values[0] == Approx(4.1e11 * 0.99));
  CHECK(triad[2].job.time_ns == 1795053600000000000);
  CHECK(sink.of("throughput")[0].job.device == "cuda");
}

TEST_CASE("csv: quotes, line breaks inside them, CRLF, and empty cells") {
  CollectedImport sink;
  import_text(
      "csv",
      "metric,unit,better,value,params,reason,host\r\n"
      "a.b,s,lower,1.5,\"{\"\"note\"\": \"\"x,y\"\"}\",\"two\nlines \"\"quoted\"\"\",\"n[1-2]\"\r\n"
      "\r\n"
      "a.b,s,lower,,{},,\r\n",
      sink);
  REQUIRE(sink.entries.size() == 1);
  CHECK(sink.entries[0].samples.params["note"] == "x,y");
  CHECK(sink.entries[0].samples.reason == "two\nlines \"quoted\"");
  CHECK(sink.entries[0].job.hosts == std::vector<std::string>{"n1", "n2"});
  CHECK(has_part(sink.all(), "skipped 1 rows without a value"));
}

TEST_CASE("csv: metrics without a program's name get the one that was given") {
  const std::string text =
      "metric,unit,better,value\n"
      "bandwidth,B/s,higher,3e9\n"
      "gemm.throughput,FLOP/s,higher,1e12\n";
  std::istringstream in(text);
  CollectedImport sink;
  import_csv({in, "sample", "", "stream"}, sink);
  REQUIRE(sink.entries.size() == 2);
  CHECK(sink.of("bandwidth")[0].job.tool == "stream");
  CHECK(sink.of("throughput")[0].job.tool == "gemm");
  CHECK_THAT(refusal("csv", text), Contains("has no valid metric: 'bandwidth'"));
  std::istringstream nameless("metric,unit,better,value\n,B/s,higher,3e9\n");
  CHECK_THROWS_AS(import_csv({nameless, "sample", "", "stream"}, sink), Error);
}

TEST_CASE("csv: unknown content is refused with its line and the nearest name") {
  const std::string whole = import_sample("csv/history.csv");
  CHECK_THAT(refusal("csv", edited(whole, "metric", "metrik")), Contains("Did you mean 'metric'"));
  CHECK_THAT(refusal("csv", edited(whole, "B/s", "GB/s")),
             Contains("sample:2") && Contains("GB/s"));
  CHECK_THAT(refusal("csv", edited(whole, "higher", "bigger")), Contains("bigger"));
  CHECK_THAT(refusal("csv", edited(whole, "memory.bandwidth", "bandwidth")),
             Contains("has no valid metric"));
  CHECK_THAT(refusal("csv", edited(whole, "T02:00:00Z", " 2 o'clock")),
             Contains("is not a valid time"));
  CHECK_THAT(refusal("csv", edited(whole, "node01", "node01;x")), Contains("node01;x"));
  CHECK_THAT(refusal("csv", edited(whole, "410000000000.0", "fast")), Contains("is not a number"));
  CHECK_THAT(refusal("csv", edited(whole, "410000000000.0", "nan")), Contains("is not a number"));
  CHECK_THAT(refusal("csv", whole.substr(0, whole.size() - 4)), Contains("may be truncated"));
  CHECK_THAT(refusal("csv", edited(whole, "triad", "tri\"ad")), Contains("closing quote"));
  CHECK_THAT(refusal("csv", "run,time\n"), Contains("no column"));
  CHECK_THAT(refusal("csv", edited(whole, "\"\"triad\"\"", "[1]")), Contains("params may hold"));
}

}  // namespace
}  // namespace bench
