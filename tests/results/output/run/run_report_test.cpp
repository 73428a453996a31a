#include "results/output/run/run_report.h"

#include "core/schema.h"
#include "results/output/run/export.h"
#include "results/output/run/run_output.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

RunFixture two_jobs() {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 1e9)).outcome("a");
  run.job("b", "null", "null").add("b", samples("time", 1.0)).outcome("b");
  return run;
}

RunReport report_of(const RunFixture& run) { return make_run_report(run.records()); }

}  // namespace

TEST_CASE("a run in which everything passed is ok and exits 0") {
  const RunReport report = report_of(two_jobs().end());
  CHECK(report.outcome == Status::ok);
  CHECK(report.exit_code == ExitCode::ok);
  CHECK(report.finished);
  CHECK(report.seconds == Approx(12.25));
  REQUIRE(report.results.size() == 2);
  CHECK(report.results[0].series.metric == "gemm.throughput");
  CHECK_FALSE(report.results[0].verdict);
}

TEST_CASE("planned skips do not spoil a run, but a run of nothing else is skipped and exits 3") {
  RunFixture run = two_jobs();
  run.job("c", "cuda", "gemm").outcome("c", Status::skipped, "no device");
  CHECK(report_of(run.end()).outcome == Status::ok);
  CHECK(report_of(run).exit_code == ExitCode::ok);
  CHECK(report_of(run).results.size() == 3);  // it is shown, with its reason

  RunFixture all;
  all.job("c", "cuda", "gemm").outcome("c", Status::skipped, "no device").end();
  CHECK(report_of(all).outcome == Status::skipped);
  CHECK(report_of(all).exit_code == ExitCode::not_measured);
  CHECK(report_of(RunFixture().end()).exit_code == ExitCode::not_measured);
}

TEST_CASE("a job that failed, timed out or was not run makes the run exit 3") {
  for (const Status status : {Status::failed, Status::timed_out}) {
    RunFixture run = two_jobs();
    run.job("c", "c", "null").outcome("c", status, "signal 11").end();
    CHECK(report_of(run).outcome == status);
    CHECK(report_of(run).exit_code == ExitCode::not_measured);
  }
  RunFixture run = two_jobs();
  run.job("c", "c", "null");
  CHECK(report_of(run).outcome == Status::failed);
  CHECK(report_of(run).exit_code == ExitCode::not_measured);
  CHECK_FALSE(report_of(run).finished);
}

TEST_CASE("a job that a lost host kept from running makes the run exit 3 until it is resumed") {
  RunFixture run = two_jobs();
  run.job("c", "c", "null").outcome("c", Status::skipped, "n2 excluded: no space");
  run.add("c", Event{kNotRunEvent, {{"why", "n2 excluded"}}});
  CHECK(report_of(run).exit_code == ExitCode::not_measured);
  CHECK(report_of(run).jobs.back().outcome == Status::skipped);
  run.add("c", Event{kRestartEvent, Json::object()}).outcome("c", Status::ok).end();
  CHECK(report_of(run).exit_code == ExitCode::ok);
}

TEST_CASE("a job that the state of the machine prevented is not run, unlike one that cannot run") {
  RunFixture run = two_jobs();
  run.job("c", "c", "null").outcome("c", Status::skipped, "needs two ranks").end();
  CHECK(report_of(run).exit_code == ExitCode::ok);
  CHECK(missing_jobs(run.records()).empty());
  run.add("c", Event{kRestartEvent, Json::object()});
  run.add("c", Event{kPreventedEvent, {{"why", "something else uses the core"}}});
  run.outcome("c", Status::skipped, "something else uses the core").end();
  const RunReport report = report_of(run);
  CHECK(report.exit_code == ExitCode::not_measured);
  REQUIRE(report.unjudged.size() == 1);
  CHECK_THAT(report.unjudged[0], Contains("something else uses the core"));
  CHECK(missing_jobs(run.records()) == std::vector<std::string>{"c"});
}

TEST_CASE("a job or gate without clean samples exits 3") {
  const auto with_flag = [](SampleFlag flag, bool gate) {
    RunFixture run = two_jobs();
    Samples disturbed = samples("throughput", 1e9);
    disturbed.flags.assign(disturbed.values.size(), flag);
    run.job("c", "c", "gemm").add("c", disturbed).outcome("c").end();
    if (gate) run.plan["gates"] = {{"c", {{{"metric", "throughput"}, {"min", 1.0}}}}};
    return report_of(run);
  };
  CHECK(with_flag(kClean, true).exit_code == ExitCode::ok);
  for (const bool gate : {false, true}) {
    const RunReport report = with_flag(kCrowded, gate);
    CHECK(report.exit_code == ExitCode::not_measured);
    CHECK(report.unjudged.size() == (gate ? 2 : 1));
    CHECK_THAT(report.unjudged.front(), Contains("no clean samples"));
    CHECK_THAT(to_junit(report), Contains("<error") && Contains("no clean samples"));
  }
}

TEST_CASE("a series without clean samples keeps a run from passing despite clean ones") {
  const auto with_series = [](std::size_t n) {
    RunFixture run = two_jobs();
    run.job("c", "c", "collective");
    for (int size = 1; size <= 5; ++size) {
      Samples one = samples("latency", 1e-6);
      one.params = {{"size", size}};
      one.values.resize(n);
      one.flags.assign(n, size > 1 ? kCrowded : kClean);
      run.add("c", one);
    }
    return report_of(run.outcome("c").end());
  };
  for (const std::size_t n : {20u, 1u}) {
    const RunReport report = with_series(n);
    CHECK(report.exit_code == ExitCode::not_measured);
    REQUIRE(report.unjudged.size() == 1);
    CHECK_THAT(report.unjudged[0], Contains("job c: no clean samples of") &&
                                       Contains("latency (size 2)") && Contains("and 1 more"));
    CHECK_THAT(to_junit(report), Contains("<error") && Contains("and 1 more"));
  }
}

TEST_CASE("a lost or torn plan and damaged records do not pass") {
  RunFixture run = two_jobs();
  run.plan["gates"] = {{"gemm", {{{"metric", "throughput"}, {"min", 1e12}}}}};
  run.end();
  REQUIRE(report_of(run).exit_code == ExitCode::failed);
  const std::string plan = dump(run.plan);
  for (const std::string& damaged : {std::string(), plan.substr(0, plan.size() / 2)}) {
    const RunReport report = make_run_report(run_of(run.id(), damaged, run.lines));
    CHECK(report.exit_code == ExitCode::not_measured);
    CHECK_THAT(report.unjudged.back(), Contains("plan.json"));
    CHECK_THAT(to_junit(report), Contains("<error") && Contains("plan.json"));
  }
  run.plan["gates"] = Json::object();
  REQUIRE(report_of(run).exit_code == ExitCode::ok);
  const RunReport report = make_run_report(run_of(run.id(), dump(run.plan), "{}\n" + run.lines));
  CHECK(report.exit_code == ExitCode::not_measured);
  CHECK_THAT(report.unjudged.back(), Contains("1 unreadable line"));
}

TEST_CASE("an invalid result exits 1, even with a failed job") {
  RunFixture run = two_jobs();
  Samples wrong = samples("throughput", 1e9);
  wrong.outcome = Status::invalid;
  run.job("c", "c", "gemm").add("c", wrong).outcome("c");  // even when the job says ok
  CHECK(report_of(run.end()).exit_code == ExitCode::failed);
  CHECK(report_of(run).outcome == Status::invalid);
  run.job("d", "d", "null").outcome("d", Status::failed, "crash");
  CHECK(report_of(run).exit_code == ExitCode::failed);
  CHECK(report_of(run).outcome == Status::failed);
}

TEST_CASE("an interrupted run exits 130 and keeps what was measured") {
  RunFixture run = two_jobs();
  run.job("c", "c", "null").end("interrupted");
  CHECK(report_of(run).exit_code == ExitCode::interrupted);
  CHECK(report_of(run).results.size() == 3);
}

TEST_CASE("a failed gate exits 1, one without data 3, a wide interval 0") {
  RunFixture run = two_jobs();
  const auto with_gate = [&](const Json& gate) {
    RunFixture gated = run;
    gated.plan["gates"] = {{"gemm", {gate}}};
    return report_of(gated.end());
  };
  CHECK(with_gate({{"metric", "throughput"}, {"min", 1.0}}).exit_code == ExitCode::ok);
  CHECK(*with_gate({{"metric", "throughput"}, {"min", 1.0}}).results[0].verdict == Verdict::pass);
  CHECK(with_gate({{"metric", "throughput"}, {"min", 2e9}}).exit_code == ExitCode::failed);
  CHECK(with_gate({{"metric", "throughput"}, {"min", 1e9}}).exit_code == ExitCode::ok);
  CHECK(*with_gate({{"metric", "throughput"}, {"min", 1e9}}).results[0].verdict ==
        Verdict::inconclusive);
  CHECK(with_gate({{"metric", "speed"}, {"min", 1.0}}).exit_code == ExitCode::not_measured);
}

TEST_CASE("a gate of a case that was skipped as planned is excused") {
  RunFixture run = two_jobs();
  run.job("c", "cuda", "gemm").outcome("c", Status::skipped, "no device");
  run.plan["gates"] = {{"cuda", {{{"metric", "throughput"}, {"min", 1.0}}}}};
  const RunReport report = report_of(run.end());
  CHECK(report.exit_code == ExitCode::ok);
  CHECK(report.gates.at(0).verdict == Verdict::inconclusive);
}

TEST_CASE("a job that died after some series keeps them and shows its end") {
  RunFixture run;
  run.job("a", "gemm", "gemm")
      .add("a", samples("throughput", 1e9))
      .outcome("a", Status::timed_out, "60 s");
  const RunReport report = report_of(run.end());
  REQUIRE(report.results.size() == 2);
  CHECK(report.results[0].series.outcome == Status::ok);
  CHECK(report.results[1].series.metric.empty());
  CHECK(report.results[1].series.outcome == Status::timed_out);
}

TEST_CASE("machines, programs and warnings come from the facts") {
  RunFixture run = two_jobs();
  const auto program = [](int pid, const Json& mpi) {
    return Facts{
        "program",
        {{"program", "bench-rank"}, {"version", "1"}, {"pid", pid}, {"libraries", {{"mpi", mpi}}}}};
  };
  run.add("", program(7, nullptr)).add("", program(8, "OpenMPI 4")).add("", program(9, nullptr));
  run.add("a", Facts{"topology", {{"cores", 4}, {"warnings", {"governor is powersave"}}}});
  run.add(
      "",
      Facts{"host",
            {{"cores", 2}, {"cpu_model", "X"}, {"warnings", {"governor is powersave", "THP"}}}});
  Samples clock = samples("frequency", 3e9);
  clock.unit = Unit::hertz;
  run.job("k", "clock", "clock").add("k", clock).outcome("k");
  const RunReport report = report_of(run.end());
  REQUIRE(report.programs.size() == 2);  // processes of one build are one program
  CHECK(report.programs[0]["name"] == "benchctl");
  CHECK(report.programs[1]["libraries"]["mpi"] == "OpenMPI 4");
  REQUIRE(report.machines.size() == 1);
  CHECK(report.machines[0].facts["cores"] == 2);
  CHECK(report.machines[0].warnings == std::vector<std::string>{"governor is powersave", "THP"});
  CHECK(report.machines[0].clock_hz == Approx(3e9));
}

TEST_CASE("a wrong host clock is the first warning, and the results keep their order") {
  RunFixture run = two_jobs();
  const std::size_t before = report_of(run).results.size();
  run.add("", Facts{"host", {{"cores", 2}, {"warnings", {"THP"}}}});
  for (const double offset : {-3600.25, -3600.5})
    run.add("",
            Facts{"clock",
                  {{"clock_offset_s", offset},
                   {"warnings", {"clock is " + std::to_string(offset) + " s off"}}}},
            -1);
  const RunReport report = report_of(run.end());
  REQUIRE(report.machines.at(0).warnings.size() == 2);
  CHECK(report.machines[0].warnings[0] == "clock is -3600.250000 s off");
  CHECK(report.machines[0].facts["clock_offset_s"] == -3600.5);
  CHECK(report.results.size() == before);
}

TEST_CASE("storage pitfalls are listed as warnings and are not facts of the host") {
  RunFixture run = two_jobs();
  run.add("", Facts{"host", {{"cores", 2}, {"warnings", {"THP"}}}});
  run.add("a", Facts{"storage", {{"path", "/raid"}, {"warnings", {"burst_cliff: it falls"}}}});
  run.add("b", Facts{"checkpoint", {{"path", "/raid"}, {"warnings", Json::array()}}});
  run.add("b", Facts{"object_storage", {{"bucket", "b"}, {"warnings", {"throttled: 3"}}}});
  run.add("b", Facts{"kv_cache", {{"path", "/raid"}, {"warnings", {"slow_host: b"}}}});
  const RunReport report = report_of(run.end());
  REQUIRE(report.machines.size() == 1);
  CHECK(report.machines[0].warnings ==
        std::vector<std::string>{"THP", "burst_cliff: it falls", "throttled: 3", "slow_host: b"});
  CHECK_FALSE(report.machines[0].facts.contains("path"));
}

TEST_CASE("warnings in records of older versions are read from their old key") {
  RunFixture run = two_jobs();
  run.add("", Facts{"host", {{"cores", 2}, {"hurts", {"governor is powersave"}}}});
  run.add("a", Facts{"storage", {{"path", "/raid"}, {"hurts", {"burst_cliff: it falls"}}}});
  const RunReport report = report_of(run.end());
  CHECK(report.machines.at(0).warnings ==
        std::vector<std::string>{"governor is powersave", "burst_cliff: it falls"});
  CHECK_FALSE(report.machines[0].facts.contains("hurts"));
  CHECK(to_json(report)["warnings"] == Json{"governor is powersave", "burst_cliff: it falls"});
}

TEST_CASE("warnings about a host's GPUs are listed with the GPU model") {
  RunFixture run = two_jobs();
  run.add("", Facts{"host", {{"cores", 2}, {"cpu_model", "X"}, {"warnings", {"THP"}}}});
  run.add("", Facts{"gpus",
                    {{"driver", "550.54"},
                     {"gpus", {{{"name", "NVIDIA H100"}}, {{"name", "NVIDIA H100"}}}}}});
  run.add("", Facts{"preflight",
                    {{"warnings", {"1 foreign process is on the GPUs (GPU 0: python3)"}}}});
  const RunReport report = report_of(run.end());
  CHECK(report.machines.at(0).warnings ==
        std::vector<std::string>{"1 foreign process is on the GPUs (GPU 0: python3)", "THP"});
  const std::string text = to_text(report, {false, true, 200});
  CHECK(text.find("2 NVIDIA H100 (driver 550.54)") != std::string::npos);
  CHECK(text.find("foreign process is on the GPUs") != std::string::npos);
  CHECK(to_json(report)["machine"]["node1"]["gpus"]["driver"] == "550.54");
}

TEST_CASE("driver-reported device faults are shown with their job") {
  const Json fault = {{"code", 63},
                      {"text", "Xid 63: memory row remapping pending"},
                      {"fatal", false},
                      {"device", "GPU-1234"},
                      {"rank", 1}};
  RunFixture run = two_jobs();
  run.add("a", Event{"device_fault", fault}).add("a", Event{"device_fault", "no object"});
  const RunReport report = report_of(run.end());
  const Json json = to_json(report);
  CHECK_NOTHROW(Schema::load("schemas/report.json").check(json, "report"));
  CHECK(json["jobs"][0]["device_faults"] == Json::array({fault}));
  CHECK(json["jobs"][1]["device_faults"] == Json::array());
  CHECK(to_text(report, {false, true, 200})
            .find("Xid 63: memory row remapping pending on GPU-1234, rank 1 of job a") !=
        std::string::npos);
}

TEST_CASE("report JSON conforms to its schema, with null for missing values") {
  RunFixture run = two_jobs();
  run.add("", Facts{"host", {{"cores", 2}, {"warnings", {"steal"}}}});
  run.job("c", "c", "null").outcome("c", Status::failed, "signal 11");
  run.job("d", "d", "gemm").add("d", samples("throughput", 1e9, 0)).outcome("d");
  run.plan["gates"] = {{"gemm", {{{"metric", "throughput"}, {"min", 1.0}}}}};
  const Json json = to_json(report_of(run.end()));
  const Schema schema = Schema::load("schemas/report.json");
  CHECK_NOTHROW(schema.check(json, "report"));
  CHECK(json["results"][0]["p99"].is_null());
  CHECK(json["results"][0]["limit"].is_null());
  CHECK(json["results"][0]["verdict"] == "pass");
  CHECK(json["results"][2]["metric"].is_null());
  CHECK(json["results"][3]["median"].is_null());
  CHECK(json["results"][3]["n"] == 0);
  CHECK(json["warnings"] == Json{"steal"});
  CHECK(json["exit_code"] == 3);
}

TEST_CASE("streamed report JSON equals the whole document") {
  const auto pieces = [](const RunReport& report) {
    std::string text;
    write_json(report, [&](const std::string& piece) { text += piece; });
    return text;
  };
  RunFixture run = two_jobs();
  run.plan["gates"] = {{"gemm", {{{"metric", "throughput"}, {"min", 1.0}}}}};
  run.job("c", "c", "null").outcome("c", Status::failed, "two\nlines, and no UTF-8: \xc2");
  for (const RunReport& report : {report_of(run.end()), report_of(RunFixture{})})
    CHECK(pieces(report) ==
          to_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

TEST_CASE("empty, torn and hostile records give a report without errors") {
  for (const std::string plan :
       {"", "{}", "[]", "{\"gates\": {\"a\": [1, {}]}, \"jobs\": [{\"id\": \"a\"}]}"}) {
    const RunReport report = make_run_report(run_of("r", plan, "{}\n"));
    CHECK(report.exit_code == ExitCode::not_measured);
    CHECK_FALSE(to_text(report, {}).empty());
    CHECK_NOTHROW(dump(to_json(report)));
  }
  RunFixture run;
  run.job("a", "gemm", "gemm")
      .outcome("a", Status::failed,
               "\033]0;owned\007 and \xc2\x9b"
               "31m");
  const std::string text = to_text(report_of(run), {});
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find("\\x1b]0;owned\\x07") != std::string::npos);
  CHECK(text.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("facts of a process pinned to one core are not the host's") {
  const auto host = [](int allowed, const char* warning) {
    return Facts{"host", {{"cores", 2}, {"allowed_cpus", allowed}, {"warnings", {warning, "THP"}}}};
  };
  RunFixture run = two_jobs();
  run.add("", host(2, "7 others want to run on 2 CPUs"))
      .add("", host(1, "only 1 of 2 CPUs allowed"));
  run.add("", host(2, "8 others want to run on 2 CPUs"));
  const RunReport report = report_of(run.end());
  CHECK(report.machines.at(0).facts["allowed_cpus"] == 2);
  CHECK(report.machines[0].warnings ==
        std::vector<std::string>{"7 others want to run on 2 CPUs", "THP"});
}
