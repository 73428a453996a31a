#include "mlperf/storage/system_file.h"

#include "core/whole_file.h"
#include "mlperf/storage/yaml_file.h"
#include "tests/mlperf/storage/made_submission.h"
#include "tests/support/catch.h"

namespace bench::mlperf::storage {
namespace {

using Catch::Matchers::Contains;

#ifdef BENCH_YAML_FOUND
TEST_CASE("a library for YAML that was found was compiled in") { CHECK(reads_yaml()); }
#endif

/// A training whose system's description has one text replaced by another.
struct Described : MadeSubmission {
  Described(const std::string& what, const std::string& by, int clients = 1) {
    add_training();
    std::string text = description("sys1", clients);
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), by);
    write_file(root() / "closed/Acme/systems/sys1.yaml", text);
  }
  /// The texts of findings of a rule.
  std::vector<std::string> texts(const std::string& rule) const {
    std::vector<std::string> found;
    const StorageReport all = report();
    for (const LocatedFinding& one : all.findings)
      if (one.finding.rule == rule) found.push_back(one.finding.text);
    for (const WorkloadReport& workload : all.workloads)
      for (const LocatedFinding& one : workload.findings)
        if (one.finding.rule == rule) found.push_back(one.finding.text);
    return found;
  }
};

using Texts = std::vector<std::string>;

TEST_CASE("a field of a description that is missing or has another value is named") {
  if (!reads_yaml()) return;
  CHECK(Described("availability: preview", "availability: soon").texts("2.1.7") ==
        Texts{"solution.availability has another value than it may"});
  CHECK(Described("usable_capacity_tib: 168", "usable: 1").texts("2.1.7") ==
        Texts{"a field is missing: solution.usable_capacity_tib"});
  CHECK(Described("cpu_model: some, cpu_qty: 1", "cpu_model: null, cpu_qty:").texts("2.1.7") ==
        Texts{"a field is missing: product_nodes[0].chassis.cpu_model",
              "a field is missing: product_nodes[0].chassis.cpu_qty"});
  CHECK(Described("submission_name: sys1", "submission_name: other").texts("2.1.8").size() == 1);
}

TEST_CASE("storage on premises has product nodes, whose rack units add up") {
  if (!reads_yaml()) return;
  CHECK(Described("total_rack_units: 6", "total_rack_units: 2").texts("2.1.7") ==
        Texts{"total_rack_units is not the sum of nodes and switches"});
  CHECK_THAT(Described("product_nodes:", "other_nodes:").texts("2.1.7").at(0),
             Contains("product_nodes"));
  CHECK(Described("deployment: onprem\n  product_nodes:", "deployment: cloud\n  other_nodes:")
            .texts("2.1.7")
            .empty());
}

TEST_CASE("rack units without nodes do not add up") {
  if (!reads_yaml()) return;
  const Described made("product_nodes:", "other_nodes:");
  CHECK(made.texts("2.1.7").size() == 1);  // the nodes are missing, which is enough
  const auto file = made.root() / "closed/Acme/systems/sys1.yaml";
  std::string text = read_file(file);
  text.replace(text.find("location: remote"), 16, "location: local");
  write_file(file, text);
  CHECK(made.texts("2.1.7") == Texts{"total_rack_units is not the sum of nodes and switches"});
}

TEST_CASE("hardware on premises has the power supplies that it needs") {
  if (!reads_yaml()) return;
  const std::string node = "product_nodes[0].chassis.power";
  CHECK(Described("power: {", "other: {").texts("2.1.7") == Texts{"a field is missing: " + node});
  CHECK(Described("efficiency: Gold", "rating: Gold").texts("2.1.7") ==
        Texts{"a field is missing: " + node + ".psus_configured[0].efficiency"});
  CHECK(Described("min_psus_active: 1", "min_psus_active: 3").texts("2.1.7") ==
        Texts{node + " needs more power supplies than there are"});
  CHECK(Described("total_rack_units: 6", "total_rack_units: 6\n  product_switches: []")
            .texts("2.1.7")
            .empty());
  CHECK(Described("total_rack_units: 6",
                  "total_rack_units: 7\n  product_switches: [{unit_count: 1, rack_units: 1}]")
            .texts("2.1.7") == Texts{"a field is missing: product_switches[0].power"});
}

TEST_CASE("fields of a description that depend on each other are compared") {
  if (!reads_yaml()) return;
  CHECK(Described("client_footprint: n/a", "client_footprint: open_source").texts("2.1.7") ==
        Texts{"client_footprint and client_installation are n/a together or not at all"});
  CHECK(Described("seconds: 0", "seconds: 30").texts("2.1.7").size() == 1);
  CHECK(Described("simultaneous_write: true", "simultaneous_write: false").texts("2.1.7").size() ==
        1);
  CHECK(Described("remap_time_in_seconds: 0", "other: 0").texts("2.1.7") ==
        Texts{"a field is missing: solution.capabilities.remap_time_in_seconds"});
}

TEST_CASE(
    "another number of hosts, or another memory, than the clients of the description is found") {
  if (!reads_yaml()) return;
  CHECK(Described("quantity: 0", "quantity: 0", 2).texts("2.1.9").size() == 6);  // of each run
  const std::string second = "    - {quantity: 0, operating_system: *os, chassis: *client}\n";
  CHECK(Described(second, "").texts("2.1.9").empty());
  Described other(second, "");
  change(other.runs("training/retinanet/run")[0] / "summary.json",
         [](Json& json) { json["host_memory_GB"] = {1.2}; });
  CHECK(other.texts("2.1.9") == Texts{"the hosts have another memory than the description says"});
}

TEST_CASE("a description that denies what a checkpointing has done is found once") {
  if (!reads_yaml()) return;
  const std::string both =
      "simultaneous_write: true, simultaneous_read: true, remap_time_in_seconds: 0";
  Described denied(
      both, "simultaneous_write: false, simultaneous_read: false, remap_time_in_seconds: 30");
  CHECK(denied.texts("4.7.4").empty());  // of a training
  denied.add_checkpointing();
  CHECK(denied.texts("4.7.4").size() == 1);
  CHECK(counts_of(denied.report()).errors == 0);
  Described allowed(both, both);
  allowed.add_checkpointing();
  CHECK(allowed.texts("4.7.4").empty());
  // Between two invocations there is time to remap the storage.
  Described remapped(
      both, "simultaneous_write: false, simultaneous_read: false, remap_time_in_seconds: 30");
  remapped.add_split_checkpointing();
  CHECK(remapped.texts("4.7.4").empty());
}

TEST_CASE("a description that was replaced before publication is noted") {
  if (!reads_yaml()) return;
  MadeSubmission made;
  made.add_checkpointing();
  write_file(made.root() / "closed/Acme/systems/sys1.yaml", "PRUNED BY STAFF\n");
  CHECK(made.broken() == "");
  CHECK(counts_of(made.report()).notes == 1);
}

TEST_CASE("what is no YAML, or unfolds without end, is a finding") {
  if (!reads_yaml()) return;
  CHECK(Described("system_under_test:", "{").texts("2.1.7").size() == 1);
  CHECK(Described("system_under_test:", "other:").texts("2.1.7") ==
        Texts{"a field is missing: system_under_test"});
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    std::string list = last;
    for (int j = 1; j < 10; ++j) list += ", " + last;
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
  }
  const Described made("system_under_test:", bomb + "system_under_test:");
  CHECK_THAT(made.texts("2.1.7").at(0), Contains("too many values"));
}

TEST_CASE("something else in an organisation's folder, and code that is not there, are found") {
  MadeSubmission made;
  made.add_training();
  write_file(made.root() / "closed/Acme/code/run.sh", "");
  CHECK(made.broken() == "2.1.5");
  MadeSubmission code;
  code.add_training();
  const auto say = [](const std::filesystem::path& leaf, const std::string& pointer) {
    write_file(leaf / ".mlps-code-image", pointer);
  };
  for (const char* phase : {"datasize", "datagen", "run"})
    for (const auto& leaf : code.runs(std::string("training/retinanet/") + phase))
      say(leaf, "md5-tree-v2:0123abcdaabbccddeeff00112233aabb\n");
  const auto leaf = code.runs("training/retinanet/run")[2];
  say(leaf, "md5-tree-v2:64104f04aabbccddeeff00112233aabb\n");
  CHECK(code.broken() == "");  // no pool: only a part is here
  std::filesystem::create_directories(code.root() / "Acme/code-0123abcd");
  CHECK(code.broken() == "2.1.6");
  std::filesystem::create_directories(code.root() / "Acme/code-64104f04");
  CHECK(code.broken() == "");
  say(leaf, "64104f04");  // an older form
  CHECK(code.broken() == "");
  say(leaf, "../../../etc/passwd");
  CHECK(code.broken() == "2.1.6");
  std::filesystem::remove(leaf / ".mlps-code-image");
  CHECK(code.broken() == "2.1.6");
  say(leaf, "64104f04");
  say(code.runs("training/retinanet/datagen")[0], "deadbeef");
  CHECK(code.broken() == "2.1.6");
}

TEST_CASE("scalars are what YAML's core schema says, unless they are quoted") {
  if (!reads_yaml()) return;
  const TemporaryDirectory folder;
  write_file(folder.path() / "a.yaml", "{a: 1, b: 1.5, c: \"1\", d: true, e: ~, f: 'no', g: x y}");
  const JsonFile file = read_yaml_file(folder.path() / "a.yaml");
  REQUIRE(file.ok());
  CHECK(file.value == Json{{"a", 1},
                           {"b", 1.5},
                           {"c", "1"},
                           {"d", true},
                           {"e", nullptr},
                           {"f", "no"},
                           {"g", "x y"}});
}

}  // namespace
}  // namespace bench::mlperf::storage
