#include <cstdlib>

#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/run/cases_output.h"
#include "results/output/run/curve.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"
#include "tests/support/rendered.h"

using namespace bench;

namespace {

Samples of_unit(Samples s, Unit unit, Better better) {
  s.unit = unit;
  s.better = better;
  return s;
}

void add_gemm(RunFixture& run) {
  const Json f32 = {{"dtype", "f32"}, {"m", 1024}, {"n", 1024}, {"k", 1024}, {"threads", 1}};
  const Json bf16 = {{"dtype", "bf16"}, {"m", 1024}, {"n", 1024}, {"k", 1024}, {"threads", 1}};
  Samples good = samples("throughput", 113.6e9, 32, f32, 0.004);
  good.limit = Limit{117.0e9, LimitKind::measured, "instruction_peak.throughput of this run"};
  Samples disturbed = samples("throughput", 210e9, 40, bf16, 0.01);
  disturbed.limit = Limit{234.0e9, LimitKind::measured, "instruction_peak.throughput of this run"};
  for (std::size_t i = 0; i < 24; ++i) {
    disturbed.values[i] *= 0.8;
    disturbed.flags[i] = kStolen;
  }
  disturbed.quality.steal_share = 0.031;
  Samples wrong =
      samples("throughput", 900e9, 20,
              {{"dtype", "int8"}, {"m", 1024}, {"n", 1024}, {"k", 1024}, {"threads", 1}});
  wrong.limit = Limit{468e9, LimitKind::proven, "2 pipes x 64 lanes x 2 x 3.66 GHz"};
  wrong.outcome = Status::invalid;
  wrong.reason = "192 % of a proven limit: the clock or the operation count is wrong";
  run.job("01.gemm.0", "gemm", "gemm")
      .add("01.gemm.0", good)
      .add("01.gemm.0", disturbed)
      .add("01.gemm.0", wrong);
  run.outcome("01.gemm.0", Status::invalid, wrong.reason);
}

void add_collective(RunFixture& run) {
  run.job("02.collective.0", "collective", "collective", Json::object(), 2);
  for (const char* op : {"all_reduce", "broadcast"}) {
    double bytes = 4;
    for (int i = 0; i < 9; ++i, bytes *= 8) {
      const double seconds = 1.2e-6 + bytes / 8e9;
      const Json params = {
          {"op", op}, {"size_bytes", static_cast<std::int64_t>(bytes)}, {"dtype", "f32"}};
      run.add("02.collective.0",
              of_unit(samples("time", seconds, 25, params), Unit::second, Better::lower));
      run.add("02.collective.0", of_unit(samples("busbw", bytes / seconds, 25, params),
                                         Unit::byte_per_second, Better::higher));
    }
  }
  run.outcome("02.collective.0");
}

RunReport sample_report() {
  RunFixture run;
  run.add("", Facts{"program",
                    {{"program", "bench-rank"},
                     {"version", "0.1.0+1a2b3c4"},
                     {"libraries", {{"oneDNN", "2.6.3"}, {"OpenMPI", "4.1.4"}}}}});
  run.add("", Facts{"host",
                    {{"hostname", "node1"},
                     {"cpu_model", "Example CPU 9000"},
                     {"packages", 1},
                     {"cores", 2},
                     {"numa_nodes", 1},
                     {"memory_bytes", 17179869184},
                     {"kernel", "6.1.0-28-amd64"},
                     {"virtualization", "virtual machine"},
                     {"hardware_threads", 4},
                     {"allowed_cpus", 2},
                     {"warnings",
                      {"virtual machine: others share this machine's cores",
                       "transparent huge pages are set to madvise"}}}});
  run.job("00.clock.0", "clock", "clock");
  run.add("00.clock.0", of_unit(samples("frequency", 3.66e9, 20, Json::object(), 0.001),
                                Unit::hertz, Better::higher))
      .outcome("00.clock.0");
  add_gemm(run);
  add_collective(run);
  run.job("03.null.0", "null", "null")
      .outcome("03.null.0", Status::failed, "signal 11 (SIGSEGV) after 0.2 s");
  run.job("03.null.1", "null", "null");
  run.job("04.topology.0", "topology", "topology").outcome("04.topology.0");
  run.plan["skipped"] = {{{"job", "05.cuda.0"},
                          {"case", "cuda"},
                          {"probe", "gemm"},
                          {"params", Json::object()},
                          {"reason", "no CUDA build"}}};
  run.plan["gates"] = {
      {"gemm",
       {{{"metric", "throughput"}, {"where", {{"dtype", "f32"}}}, {"min_of_limit", 0.95}},
        {{"metric", "througput"}, {"min", 1.0}}}}};
  run.end().lines += "{\"torn";
  return make_run_report(run.records());
}

/// BENCH_WRITE_GOLDEN=1 rewrites the file; the commit must say why.
void compare_with_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = "tests/data/results/" + name;
  if (std::getenv("BENCH_WRITE_GOLDEN") != nullptr) write_text(path, text);
  CHECK(text == read_file(path));
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    longest = std::max(longest, code_points(text.substr(start, end - start)));
    start = end + 1;
  }
  return longest;
}

}  // namespace

TEST_CASE("the report text matches the golden file") {
  compare_with_golden("report.txt", to_text(sample_report(), {false, true, 120}));
}

TEST_CASE("without unicode the report is plain ASCII") {
  const std::string text = to_text(sample_report(), {false, false, 100});
  compare_with_golden("report_ascii.txt", text);
  for (const char c : text) REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
}

TEST_CASE("the same records give the same text, and colour changes nothing but colour") {
  const RunReport report = sample_report();
  const std::string plain = to_text(report, {false, true, 120});
  CHECK(plain == to_text(sample_report(), {false, true, 120}));
  const std::string coloured = to_text(report, {true, true, 120});
  std::string stripped;
  for (std::size_t i = 0; i < coloured.size(); ++i)
    if (coloured[i] == '\033')
      i = coloured.find('m', i);
    else
      stripped += coloured[i];
  CHECK(coloured != plain);
  CHECK(stripped == plain);
}

TEST_CASE("a metric without a limit says that none is known; a count has none to know") {
  RunFixture run;
  run.job("a", "mem", "mem");
  run.add("a", samples("bandwidth", 1e9, 20));
  Samples bounded = samples("rate", 1e9, 20);
  bounded.limit = Limit{2e9, LimitKind::measured, "earlier"};
  run.add("a", bounded);
  run.add("a", of_unit(samples("banks", 4, 20), Unit::count, Better::none));
  run.outcome("a");
  const std::string text = to_text(make_run_report(run.records()), {false, true, 200});
  const auto line = [&](const char* metric) {
    const auto at = text.find(metric, text.find("mem  1 rank"));  // not in the overview
    REQUIRE(at != std::string::npos);
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK_THAT(line("bandwidth "), Catch::Contains("none known"));
  CHECK_THAT(line("rate "), Catch::Contains("measured"));
  CHECK_THAT(line("banks "), !Catch::Contains("none known"));
}

TEST_CASE("a metric that repeats another is only named, unless the report is verbose") {
  RunFixture run;
  run.job("1", "memory", "memory_bandwidth");
  Samples bandwidth = samples("bandwidth", 1e10), traffic = samples("traffic", 1.5e10);
  run.add("1", bandwidth).add("1", traffic).outcome("1");
  run.job("2", "alone", "memory_bandwidth").add("2", traffic).outcome("2");
  const Document document = to_document(make_run_report(run.end().records()));
  const std::string text = to_terminal(document, {});
  CHECK_THAT(text, Catch::Contains("also measured: traffic (--verbose)"));
  // In the overview and below, of the case in which nothing else says it.
  CHECK(occurrences(text, "15.00 GFLOP/s") == 2);
  CHECK(occurrences(to_terminal(document, {.verbose = true}), "15.00 GFLOP/s") == 3);
  CHECK(occurrences(to_page(document), "15.00 GFLOP/s") >= 3);
}

TEST_CASE("a narrow terminal drops the least important columns") {
  CHECK(longest_line(to_text(sample_report(), {false, true, 120})) <= 120);
  CHECK(longest_line(to_text(sample_report(), {false, true, 80})) <= 80);
}

TEST_CASE("six values of a parameter are a table, seven a curve") {
  for (const int count : {6, 7}) {
    RunFixture run;
    run.job("a", "mem", "mem");
    for (int i = 0; i < count; ++i)
      run.add("a", samples("bandwidth", 1e9 + i, 20, {{"size_bytes", 64 << i}}));
    const RunReport report = make_run_report(run.outcome("a").records());
    Rows rows;
    for (const Result& result : report.results) rows.push_back(&result);
    const Split split = find_curves(rows, dimensions(rows));
    CHECK(split.curves.size() == (count > 6 ? 1 : 0));
    CHECK(split.rest.size() == (count > 6 ? 0 : 6));
  }
}

TEST_CASE("two results at one value of a sweep are not drawn as one curve") {
  RunFixture run;
  run.job("a", "mem", "mem").job("b", "mem", "mem");
  for (int i = 0; i < 8; ++i)
    for (const char* job : {"a", "b"})
      run.add(job, samples("bandwidth", 1e9, 20, {{"size_bytes", 64 << i}}));
  const RunReport report = make_run_report(run.outcome("a").outcome("b").records());
  Rows rows;
  for (const Result& result : report.results) rows.push_back(&result);
  CHECK(find_curves(rows, dimensions(rows)).rest.size() == 16);
}

TEST_CASE("a sweep stays a curve next to a result without its axis, which goes in a table") {
  RunFixture run;
  run.job("a", "mem", "mem").add("a", samples("init_time", 2.5e8, 20));
  for (int i = 0; i < 8; ++i)
    run.add("a", samples("bandwidth", 1e9, 20, {{"size_bytes", 64 << i}}));
  const RunReport report = make_run_report(run.outcome("a").records());
  Rows rows;
  for (const Result& result : report.results) rows.push_back(&result);
  const Rows sweep = swept(rows);
  CHECK(sweep.size() == 8);
  CHECK(find_curves(sweep, dimensions(sweep)).curves.size() == 1);
  const std::string text = to_text(report, {false, true, 120});
  CHECK(text.find("init_time") < text.find("8 KiB"));
  CHECK(text.find("250.0 MFLOP/s") != std::string::npos);
}

TEST_CASE("bars are full at their largest value and never longer") {
  const TextStyle unicode{false, true, 100}, ascii{false, false, 100};
  CHECK(code_points(bar(1.0, 10, unicode)) == 10);
  CHECK(bar(7.0, 10, ascii) == "##########");
  CHECK(bar(0.5, 10, ascii) == "#####");
  CHECK(bar(0.001, 10, ascii) == "#");
  CHECK(bar(0.0, 10, ascii).empty());
  CHECK(bar(kNoValue, 10, ascii).empty());
}

TEST_CASE("many repeats of one case are one row of their medians, unless one of them is not ok") {
  for (const bool broken : {false, true}) {
    RunFixture run;
    for (int i = 0; i < 9; ++i) {
      const std::string id = std::to_string(i);
      run.job(id, "null", "null");
      run.plan["jobs"].back()["repeat"] = i;
      Samples s = samples("time", 1.0 + i, 20);
      if (broken && i == 3) s.outcome = Status::invalid;
      run.add(id, s).outcome(id);
    }
    const RunReport report = make_run_report(run.records());
    Rows rows;
    for (const Result& result : report.results) rows.push_back(&result);
    const auto folded = fold_repeats(rows);
    REQUIRE(folded.size() == (broken ? 9 : 1));
    if (broken) continue;
    CHECK(folded[0].series.params["repeats"] == 9);
    CHECK(folded[0].series.median == Approx(5.0));
    CHECK(folded[0].series.n == 9);
    CHECK(folded[0].series.low == Approx(2.0));  // ranks 2 and 8 of nine
  }
}
