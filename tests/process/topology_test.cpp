// benchctl topology of this host, of stored runs, and of machines saved by lstopo.
#include <fstream>

#include "core/schema.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"
#include "tests/support/saved_machines.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json answer_of(const Answer& answer) {
  INFO(answer.err);
  REQUIRE_FALSE(answer.out.empty());
  const Json json = parse_json(answer.out, "benchctl topology");
  CHECK_NOTHROW(Schema::load("schemas/topology.json").check(json, "topology"));
  return json;
}

/// bench-rank was built without hwloc.
bool no_library(const Answer& answer) {
  return answer.err.find("built without hwloc") != std::string::npos ||
         answer.out.find("built without hwloc") != std::string::npos;
}

void write_xml(const std::filesystem::path& path, int gpus) {
  std::ofstream out(path);
  out << R"(<?xml version="1.0" encoding="UTF-8"?><topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<info name="DMIProductName" value="Made up"/>
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="68719476736"/>
<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3"><object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/></object>
<object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5"><object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="6"/></object>
<object type="Bridge" gp_index="7" bridge_type="0-1" depth="0" bridge_pci="0000:[00-0f]">)";
  for (int gpu = 1; gpu <= gpus; ++gpu)
    out << R"(<object type="PCIDev" gp_index=")" << 10 + gpu << R"(" pci_busid="0000:0)" << gpu
        << R"(:00.0" pci_type="0302 [10de:20b0] [10de:144e] a1" pci_link_speed="31.507692"/>)";
  out << "</object></object></topology>\n";
}

}  // namespace

TEST_CASE("this host is probed, stored as a run, shown from it, and matches its learned profile") {
  const BenchctlFolder bench;
  const Answer first = bench.run({"topology", "--json"});
  if (no_library(first)) return;
  const Json asked = answer_of(first);
  CHECK(first.exit.clean());
  REQUIRE(asked["hosts"].size() == 1);
  CHECK(asked["hosts"][0]["compared"] == false);
  CHECK(asked["kinds"][0]["shape"].contains("setting/thp"));
  CHECK(asked["kinds"][0]["shape"].contains("software/kernel"));
  CHECK_FALSE(asked["no_majority"].empty());

  const std::string profile = (bench.folder.path() / "profiles" / "mine.json").string();
  std::filesystem::create_directories(bench.folder.path() / "profiles");
  CHECK(bench.run({"topology", "--run", "latest", "--learn", profile}).exit.clean());
  const Answer again = bench.run({"topology", "--run", "latest", "--learn", profile});
  CHECK(again.exit.text() == "exit code 2");
  CHECK_THAT(again.err, Contains("already exists") && Contains("--force"));
  CHECK(bench.run({"topology", "--run", "latest", "--learn", profile, "--force"}).exit.clean());

  const Answer fits = bench.run({"topology", "--run", "latest", "--profile", "mine", "--json"});
  CHECK(fits.exit.clean());
  CHECK(answer_of(fits)["hosts"][0]["compared"] == true);
  CHECK_FALSE(std::filesystem::exists(bench.folder.path() / "profiles/mine.json.new"));
}

TEST_CASE("a setting that violates a profile is named, with exit code 1") {
  const BenchctlFolder bench;
  const auto profile = bench.folder.path() / "other.json";
  std::ofstream(profile) << R"({"profile": "other", "expect": {
    "setting/thp": {"is": "no such mode", "note": "as bought"}}})";
  const Answer answer = bench.run({"topology", "--profile", profile.string()});
  if (no_library(answer)) return;
  CHECK(answer.exit.text() == "exit code 1");
  CHECK_THAT(answer.out, Contains("DIFFERS") && Contains("setting/thp") &&
                             Contains("no such mode") && Contains("as bought"));
}

TEST_CASE("the profile named in a hosts file is used, and a missing one is rejected") {
  const BenchctlFolder bench;
  const auto hosts = bench.folder.path() / "hosts.json";
  std::ofstream(hosts) << R"({"hosts": [{"name": "localhost", "slots": 1, "profile": "kept"}]})";
  const std::vector<std::string> words = {"topology", "--hosts", hosts.string()};
  const Answer none = bench.run(words);
  CHECK(none.exit.text() == "exit code 2");
  CHECK_THAT(none.err, Contains("unknown profile 'kept'"));
  CHECK(bench.records().empty());  // before any probing
}

TEST_CASE("of three saved machines the one with a missing GPU is named") {
  const BenchctlFolder bench;
  std::vector<std::string> words = {"topology", "--json", "--xml"};
  for (int host = 1; host <= 3; ++host) {
    const auto path = bench.folder.path() / ("node" + std::to_string(host) + ".xml");
    write_xml(path, host == 2 ? 3 : 4);
    words.push_back(path.string());
  }
  const Answer answer = bench.run(words);
  if (no_library(answer)) return;
  const Json json = answer_of(answer);
  CHECK(answer.exit.text() == "exit code 1");
  CHECK(json["hosts"][0]["verdict"] == "same");
  CHECK(json["hosts"][1]["verdict"] == "differs");
  REQUIRE(json["hosts"][1]["differences"].size() == 1);
  const Json& one = json["hosts"][1]["differences"][0];
  CHECK(one["path"] == "gpu/10de:20b0/count");
  CHECK(one["expected"] == 4);
  CHECK(one["found"] == 3);
}

TEST_CASE("a saved DGX-2 has 16 V100 behind switches, eight at each processor, and 12 NVSwitches") {
  if (!available("nvidiaDGX2.xml")) return;
  const BenchctlFolder bench;
  const auto file = (kMachines / "nvidiaDGX2.xml").string();
  const Answer answer = bench.run({"topology", "--json", "--xml", file});
  if (no_library(answer)) return;
  CHECK(answer.exit.clean());
  const Json shape = answer_of(answer)["kinds"][0]["shape"];
  CHECK(shape["machine/product"] == "NVIDIA DGX-2H");
  CHECK(shape["processor/packages"] == 2);
  CHECK(shape["gpu/10de:1db8/count"] == 16);
  CHECK(shape["gpu/10de:1db8/model"] == Json{{"Tesla V100-SXM3-32GB-H", 16}});
  CHECK(shape["gpu/10de:1db8/link"] == Json{{"15.75 GB/s", 16}});
  CHECK(shape["gpu/10de:1db8/numa"] == Json{{"node 0", 8}, {"node 1", 8}});
  int switches = 0;
  for (const auto& [path, value] : shape.items())
    if (path.starts_with("nvswitch/") && path.ends_with("/count")) switches += value.get<int>();
  CHECK(switches == 12);
  CHECK(shape["setting"]["unreadable"] == "not in a saved topology");
}

TEST_CASE("different saved machines are separate kinds") {
  for (const char* name :
       {"32em64t-2n8c2t-pci-wholeio.xml", "power8gpudistances.xml", "16intel64-manyVFs.xml"})
    if (!available(name)) return;
  const BenchctlFolder bench;
  const Answer answer = bench.run({"topology", "--json", "--xml",
                                   (kMachines / "32em64t-2n8c2t-pci-wholeio.xml").string(),
                                   (kMachines / "power8gpudistances.xml").string(),
                                   (kMachines / "16intel64-manyVFs.xml").string()});
  if (no_library(answer)) return;
  const Json json = answer_of(answer);
  CHECK(json["kinds"].size() == 3);
  CHECK(json["kinds"][0]["shape"]["machine/bios_version"] == "1.0c");
  CHECK(json["kinds"][0]["shape"]["network/15b3:1013/count"] == 1);
  CHECK(json["kinds"][1]["shape"]["gpu/10de:15f9/count"] == 4);
}

TEST_CASE("invalid uses of topology report the error and the fix") {
  const BenchctlFolder bench;
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "topology");
    const Answer answer = bench.run(words);
    CHECK(answer.exit.text() == "exit code 2");
    return answer.err;
  };
  CHECK_THAT(refused({"--run", "latest", "--xml", "a.xml"}), Contains("exclude each other"));
  CHECK_THAT(refused({"--xml", "/nonexistent/a.xml"}), Contains("no such file"));
  CHECK_THAT(refused({"--force"}), Contains("require --learn"));
  CHECK_THAT(refused({"--run", "latest"}), Contains("run"));
  const auto torn = bench.folder.path() / "torn.xml";
  std::ofstream(torn) << "<topology version=\"2.0\"><object type=\"Machine\"";
  CHECK_THAT(refused({"--xml", torn.string()}), Contains("is not a readable topology"));
  // hwloc 2.9 crashes on it, in a process of its own.
  const auto crashes = std::filesystem::path("tests/fuzz/corpus/hwloc/crashes_hwloc.xml");
  CHECK_THAT(refused({"--xml", crashes.string()}), Contains("is not a readable topology"));
  const auto broken = bench.folder.path() / "broken.json";
  std::ofstream(broken) << R"({"profile": "x", "expect": {"a": {"iz": 1}}})";
  CHECK_THAT(refused({"--profile", broken.string()}), Contains("broken.json") && Contains("iz"));
}
