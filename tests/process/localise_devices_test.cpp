// Hosts with eight GPUs, simulated by a fake rank with a bad GPU, which `run --localise` and
// `accept` must isolate.
#include <filesystem>
#include <fstream>

#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

struct GpuHosts : BenchctlFolder {
  std::filesystem::path hosts = folder.path() / "hosts.json", suite = folder.path() / "suite.json";

  GpuHosts() {
    // Fake mpirun: starts one rank with the number of hosts and the exported variables.
    script("mpirun",
           "while [ $# -gt 1 ]; do\n"
           "  case $1 in\n"
           "    --host) FAULTY_RANK_HOSTS=$(echo \"$2\" | tr , '\\n' | wc -l)\n"
           "      export FAULTY_RANK_HOSTS;;\n"
           "    -x) export \"$2\";;\n"
           "  esac\n"
           "  shift\n"
           "done\n"
           "exec \"$1\"\n");
    const std::string agent = script("agent", "exit 0\n");
    const std::string rank = (program_folder() / "faulty_rank").string();
    std::ofstream(hosts) << Json{{"hosts", {{{"name", "gpu[01-04]"}, {"slots", 8}}}},
                                 {"mpirun",
                                  {{"agent", {agent}},
                                   {"agent_options", false},
                                   {"rank_program", rank},
                                   {"cuda_rank_program", rank}}}};
  }

  std::string script(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  /// JSON output of run or accept with that fault in the fleet.
  Json play(const std::string& fault, const std::string& scope, std::vector<std::string> words,
            const Json& gates) const {
    const Json one = {{"name", "all"},  {"probe", "collective"}, {"device", "cuda"},
                      {"scope", scope}, {"ranks_per_host", 8},   {"gates", gates}};
    std::ofstream(suite) << Json{{"suite", "gpus"}, {"cases", {one}}};
    words.insert(words.begin(), (program_folder() / "benchctl").string());
    words.insert(words.end(), {"--hosts", hosts.string(), "--json"});
    const char* path = std::getenv("PATH");
    const Answer answer =
        Program({words,
                 {{"BENCHCTL_DB", database.string()},
                  {"TERM", "dumb"},
                  {"FAULTY_GPUS", fault},
                  {"PATH", folder.path().string() + ":" + (path == nullptr ? "" : path)}}})
            .wait();
    INFO(answer.err);
    REQUIRE_THAT(answer.out, Contains("localisation"));
    return parse_json(answer.out, "answer");
  }

  Json localise(const std::string& fault, const std::string& scope = "all",
                const Json& gates = Json::array()) const {
    return play(fault, scope, {"run", suite.string(), "--localise"}, gates)["localisation"];
  }
};

/// A benchctl without rank programs next to it.
std::string benchctl_alone(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "bin");
  for (const char* name : {"schemas", "suites", "hosts"})
    std::filesystem::create_directory_symlink(data_root() / name, folder / name);
  std::filesystem::copy_file(program_folder() / "benchctl", folder / "bin" / "benchctl");
  return (folder / "bin" / "benchctl").string();
}

const Json kAtLeast60 = {{{"metric", "busbw"}, {"min", 60e9}}};

Json named(const Json& search) {
  Json list = Json::array();
  for (const Json& host : search["devices"])
    for (const Json& finding : host["findings"])
      list.push_back({host["host"], finding["kind"], finding["devices"]});
  return list;
}

}  // namespace

TEST_CASE("GPU hosts with their own program are planned without a CUDA build") {
  const GpuHosts bench;
  const Json one = {{"name", "all"},
                    {"probe", "collective"},
                    {"device", "cuda"},
                    {"scope", "all"},
                    {"ranks_per_host", 8}};
  std::ofstream(bench.suite) << Json{{"suite", "gpus"}, {"cases", {one}}};
  const Answer answer = Program({{benchctl_alone(bench.folder.path() / "alone"), "plan",
                                  bench.suite.string(), "--hosts", bench.hosts.string(), "--json"},
                                 {{"BENCHCTL_DB", bench.database.string()}}})
                            .wait();
  INFO(answer.err);
  const Json plan = parse_json(answer.out, "plan");
  CHECK(plan["jobs"].size() == 1);
  CHECK(plan["skipped"].empty());
}

TEST_CASE("run --localise isolates the GPU that makes ranks of several hosts fail") {
  const GpuHosts bench;
  const Json found = bench.localise("gpu03 cuda:5 crash");
  REQUIRE(found.size() == 1);
  CHECK(found[0]["findings"][0]["hosts"] == Json{"gpu03"});
  CHECK(named(found[0]) == Json{{"gpu03", "device", {"cuda:5"}}});
  CHECK(found[0]["finished"] == true);
  CHECK_THAT(bench.run({"show"}).out, Contains("device cuda:5 of gpu03: with it jobs fail on"));
}

TEST_CASE("run --localise isolates the slow GPU although fewer GPUs never reach the gate") {
  const GpuHosts bench;
  const Json found = bench.localise("gpu02 cuda:6 slow", "all", kAtLeast60);
  REQUIRE(found.size() == 1);
  CHECK(named(found[0]) == Json{{"gpu02", "device", {"cuda:6"}}});
  for (const Json& one : found[0]["devices"][0]["findings"][0]["evidence"]) {
    const auto& devices = one["devices"];
    const bool has = std::find(devices.begin(), devices.end(), "cuda:6") != devices.end();
    CHECK(one["shows"] == has);
  }
}

TEST_CASE("run --localise isolates the link between two GPUs, and no GPU if the host is slow") {
  const GpuHosts bench;
  const Json link = bench.localise("gpu01 cuda:1 cuda:2 crash");
  CHECK(named(link.at(0)) == Json{{"gpu01", "link", {"cuda:1", "cuda:2"}}});
  const Json host = bench.localise("gpu04 slow", "all", kAtLeast60);
  REQUIRE(named(host.at(0)).size() == 1);
  CHECK(named(host[0])[0][1] == "everywhere");
  CHECK_THAT(host[0]["devices"][0]["findings"][0]["text"].get<std::string>(),
             Contains("no single device"));
}

TEST_CASE("accept fails the host of a bad GPU and names the GPU, from single-host jobs") {
  const GpuHosts bench;
  const Json answer =
      bench.play("gpu02 cuda:3 crash", "host",
                 {"accept", "--suite", bench.suite.string(), "--max-runs", "1"}, Json::array());
  CHECK(named(answer["localisation"].at(0)) == Json{{"gpu02", "device", {"cuda:3"}}});
  for (const Json& host : answer["hosts"]) {
    INFO(host.dump());
    CHECK((host["verdict"] == "fail") == (host["host"] == "gpu02"));
  }
  // Stored runs make the same packet; their suite was a file.
  const std::string packets = (bench.folder.path() / "rma").string();
  const Answer again = bench.run({"accept", "--of", "latest", "--rma", packets});
  INFO(again.err);
  CHECK(again.exit.text() == "exit code 1");
  CHECK(read_json(packets + "/gpu02/suite.json")["suite"] == "gpus");
  CHECK_FALSE(std::filesystem::exists(packets + "/gpu01"));
  CHECK(bench.run({"verify", packets + "/gpu02"}).exit.clean());
}

TEST_CASE("accept repeats open cases until the budget is spent") {
  const GpuHosts bench;
  // One run a round, and a verdict needs three.
  const auto rounds = [&](const std::string& budget) {
    return bench
        .play("gpu09 slow", "host", {"accept", "--suite", bench.suite.string(), "--budget", budget},
              Json::array())
        .at("runs")
        .size();
  };
  CHECK(rounds("0") == 1);
  CHECK(rounds("600") >= 3);
}
