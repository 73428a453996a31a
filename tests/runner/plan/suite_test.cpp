#include "runner/plan/suite.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/locations.h"
#include "core/sha256.h"
#include "tests/runner/test_catalogue.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Suite read(const std::string& cases, const SuiteChanges& changes = {}) {
  return suite_from_text(R"({"suite": "s", "cases": [)" + cases + "]}", "s.json", test_catalogue(),
                         changes);
}

/// "what | hint" of the error that reading gives.
std::string refusal(const std::string& cases, const SuiteChanges& changes = {}) {
  try {
    read(cases, changes);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

const std::string kGemm = R"({"name": "a", "probe": "gemm"})";

}  // namespace

TEST_CASE("a case takes what the file says and the defaults for the rest") {
  const Suite suite = read(R"({"name": "a", "probe": "gemm", "params": {"dtype": "f64"},
      "axes": {"cores": [1, 2]}, "ranks_per_host": "slots", "repeat": 3, "env": {"X": "1"}})");
  REQUIRE(suite.cases.size() == 1);
  const Case& one = suite.cases[0];
  CHECK(one.params == Json{{"dtype", "f64"}});
  CHECK(one.axes.at("cores") == Json{1, 2});
  CHECK(one.ranks_per_host == "slots");
  CHECK(one.repeat == 3);
  CHECK(one.timeout_s == 60.0);
  CHECK(one.binding == "core");
  CHECK(one.device == "host");
  CHECK(one.env.at("X") == "1");
}

TEST_CASE("the digest is the SHA-256 of the file's bytes") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string text = R"({"suite": "s", "cases": [)" + kGemm + "]}";
  CHECK(read(kGemm).digest == sha256(text));
}

TEST_CASE("names and values that no environment can hold are refused with their place") {
  for (const char* name : {"A=B", "A\\u0000B", "", "1A", "A B", "=", "\\u0000"}) {
    INFO(name);
    const std::string env = "{\"" + std::string(name) + "\": \"1\"}";
    CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "env": )" + env + "}"),
               Contains("s.json: /cases/0/env") && Contains("not a valid name of a variable"));
  }
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "env": {"A": "x\u0000y"}})"),
             Contains("/cases/0/env/A") && Contains("contains NUL"));
  const auto catalogue = ProbeCatalogue::load(data_root() / "schemas" / "probes");
  const auto external = [&](const std::string& params) -> std::string {
    try {
      suite_from_text(R"({"suite": "s", "cases": [{"name": "a", "probe": "external", "params": )" +
                          params + "}]}",
                      "s.json", catalogue);
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  };
  CHECK(external(R"({"argv": ["x"], "environment": {"a.b-c": "=1="}})") == "no error");
  for (const char* name : {"A=B", "A\\u0000B", ""})
    CHECK_THAT(external(R"({"argv": ["x"], "environment": {")" + std::string(name) + R"(": "1"}})"),
               Contains("/params/environment") && Contains("not a valid name"));
  CHECK_THAT(external(R"({"argv": ["x", "y\u0000z"]})"),
             Contains("/params/argv/1") && Contains("contains NUL"));
}

TEST_CASE("a misspelt probe is refused with the nearest name and its place") {
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gem"})"), Contains("s.json: /cases/0/probe") &&
                                                              Contains("'gem'") &&
                                                              Contains("Did you mean 'gemm'?"));
}

TEST_CASE("a misspelt parameter is refused with the nearest name and its place") {
  CHECK_THAT(refusal(kGemm + R"(, {"name": "b", "probe": "gemm", "params": {"dtyp": "f32"}})"),
             Contains("/cases/1/params/dtyp") && Contains("Did you mean 'dtype'?"));
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "axes": {"core": [1]}})"),
             Contains("/cases/0/axes/core") && Contains("Did you mean 'cores'?"));
}

TEST_CASE("a value outside its range is refused with value, place and range") {
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "params": {"cores": 65}})"),
             Contains("/cases/0/params/cores") && Contains("65") && Contains("64"));
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "params": {"sizes": [16, 0]}})"),
             Contains("/cases/0/params/sizes/1") && Contains("0"));
}

TEST_CASE("every value of an axis is checked, with its index in the place") {
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "axes": {"cores": [1, -3]}})"),
             Contains("/cases/0/axes/cores/1") && Contains("-3"));
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "axes": {"dtype": ["f32", "f33"]}})"),
             Contains("/cases/0/axes/dtype/1") && Contains("f33") && Contains("f32"));
}

TEST_CASE("ranks and binding may be axes, and their values are checked") {
  CHECK(refusal(R"({"name": "a", "probe": "gemm", "axes": {"ranks_per_host": [2, "slots"]}})") ==
        "no error");
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "axes": {"ranks_per_host": [2, 0]}})"),
             Contains("/cases/0/axes/ranks_per_host/1"));
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "axes": {"binding": ["cores"]}})"),
             Contains("/cases/0/axes/binding/0") && Contains("none, core, socket"));
}

TEST_CASE("a parameter in both params and axes is refused") {
  CHECK_THAT(
      refusal(R"({"name": "a", "probe": "gemm", "params": {"cores": 1}, "axes": {"cores": [2]}})"),
      Contains("'cores' is in both params and axes"));
}

TEST_CASE("a resolution for an unknown metric is refused with the nearest name and its place") {
  const auto with = [](const std::string& metric) {
    return suite_from_text(R"({"suite": "s", "acceptance": {"resolution": {")" + metric +
                               R"(": 0.1}}, "cases": [)" + kGemm + "]}",
                           "s.json", test_catalogue());
  };
  CHECK(with("default").acceptance["resolution"]["default"] == 0.1);
  CHECK(with("gemm.throughput").acceptance["resolution"].size() == 1);
  CHECK_THROWS_WITH(with("gemm.throughputt"),
                    Contains("s.json: /acceptance/resolution") && Contains("gemm.throughput"));
}

TEST_CASE("two cases of one name are refused, naming it") {
  CHECK_THAT(refusal(kGemm + "," + kGemm), Contains("/cases/1/name") && Contains("'a'"));
}

TEST_CASE("an unknown key of a case is refused") {
  CHECK_THAT(refusal(R"({"name": "a", "probe": "gemm", "repeats": 2})"),
             Contains("/cases/0/repeats") && Contains("repeat"));
}

TEST_CASE("a device the probe does not measure is refused") {
  CHECK_THAT(refusal(R"({"name": "a", "probe": "peak", "device": "cuda"})"),
             Contains("/cases/0/device") && Contains("supported devices: host"));
}

TEST_CASE("a gate on a metric the probe does not have is refused with the nearest") {
  CHECK_THAT(
      refusal(R"({"name": "a", "probe": "peak", "gates": [{"metric": "latecy", "max": 1}]})"),
      Contains("/cases/0/gates/0/metric") && Contains("Did you mean 'latency'?"));
  CHECK(refusal(
            R"({"name": "a", "probe": "peak", "gates": [{"metric": "peak.latency", "max": 1}]})") ==
        "no error");
}

TEST_CASE("--only keeps the named cases and refuses unknown names") {
  const std::string two = kGemm + R"(, {"name": "bench.b", "probe": "peak"})";
  const Suite suite = read(two, {{"bench.b"}, {}});
  REQUIRE(suite.cases.size() == 1);
  CHECK(suite.cases[0].name == "bench.b");
  CHECK_THAT(refusal(two, {{"bench.c"}, {}}), Contains("no case 'bench.c'") && Contains("bench.b"));
}

TEST_CASE("--set puts a value in a case's parameters and takes the axis away") {
  const Suite suite = read(R"({"name": "a.b", "probe": "gemm", "axes": {"cores": [1, 2]}})",
                           {{}, {"a.b.cores=4", "a.b.dtype=f64", "a.b.sizes=[16]"}});
  CHECK(suite.cases[0].params == Json{{"cores", 4}, {"dtype", "f64"}, {"sizes", {16}}});
  CHECK(suite.cases[0].axes.empty());
}

TEST_CASE("--set refuses a wrong form, case, parameter or value by name") {
  CHECK_THAT(refusal(kGemm, {{}, {"cores=4"}}), Contains("expected CASE.PARAM=VALUE"));
  CHECK_THAT(refusal(kGemm, {{}, {"a.cores"}}), Contains("expected CASE.PARAM=VALUE"));
  CHECK_THAT(refusal(kGemm, {{}, {"b.cores=4"}}), Contains("no case 'b'"));
  CHECK_THAT(refusal(kGemm, {{}, {"a.coers=4"}}), Contains("Did you mean 'cores'?"));
  CHECK_THAT(refusal(kGemm, {{}, {"a.cores=many"}}),
             Contains("--set a.cores=many") && Contains("many"));
}

namespace {

/// A folder that another user may have prepared, as the current folder.
class PreparedFolder {
 public:
  PreparedFolder() : former_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
  }
  ~PreparedFolder() { std::filesystem::current_path(former_); }
  void put(const std::string& name) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << "{}";
  }
  std::filesystem::path path() const { return folder_.path(); }

 private:
  std::filesystem::path former_;
  TemporaryDirectory folder_;
};

Error suite_error(const std::string& name) try {
  return Error(ErrorKind::environment, "found " + find_suite(name).string());
} catch (const Error& error) {
  return error;
}

}  // namespace

TEST_CASE("a suite's name is never a file of the current folder") {
  const PreparedFolder here;
  here.put("accept-quick");
  here.put("mlperf/rgat");
  here.put("own");
  CHECK(find_suite("accept-quick") == data_root() / "suites" / "accept-quick.json");
  CHECK(find_suite("mlperf/rgat") == data_root() / "suites" / "mlperf" / "rgat.json");
  CHECK_THAT(suite_error("own").what(), Contains("unknown suite 'own'"));
  CHECK_THAT(suite_error("own").hint(), Contains("write ./own for the file in this folder"));
  CHECK_THAT(suite_error("accept-quik").hint(),
             Contains("./NAME or NAME.json") && Contains("Did you mean 'accept-quick'?"));
}

TEST_CASE("a suite's file is named with a slash or .json") {
  const PreparedFolder here;
  here.put("accept-quick");
  here.put("own.json");
  CHECK(find_suite("./accept-quick") == "./accept-quick");
  CHECK(find_suite("own.json") == "own.json");
  CHECK_THAT(suite_error("./none").what(), Contains("'./none': no such file or suite name"));
}

TEST_CASE("suites of the user have names, but do not replace installed ones or come from others") {
  const PreparedFolder here;
  here.put("benchctl/suites/own.json");
  here.put("benchctl/suites/smoke.json");
  here.put("benchctl/suites/open.json");
  chmod((here.path() / "benchctl/suites/open.json").c_str(), 0666);
  const char* former = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = former == nullptr ? "" : former;
  setenv("XDG_CONFIG_HOME", here.path().c_str(), 1);
  const auto own = find_suite("own");
  const auto smoke = find_suite("smoke");
  const Error open = suite_error("open");
  const std::string name = suite_name(own);
  former == nullptr ? unsetenv("XDG_CONFIG_HOME") : setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  CHECK(own == here.path() / "benchctl/suites/own.json");
  CHECK(name == "own");
  CHECK(smoke == data_root() / "suites" / "smoke.json");
  CHECK_THAT(open.what(), Contains("unknown suite 'open'"));
}

namespace {

/// A case of the real probe `training` with this gate; `device` and `params` of the case.
Suite suite_with_gate(const std::string& gate, const std::string& device = "host",
                      const std::string& params = "{}") {
  const std::string text = R"({"suite": "s", "cases": [{"name": "t", "probe": "training",
      "device": ")" + device +
                           R"(", "params": )" + params + R"(, "gates": [)" + gate + "]}]}";
  return suite_from_text(text, "s.json", ProbeCatalogue::load("schemas/probes"), {});
}

Json gate_with_band(const std::string& gate, const std::string& device = "host") {
  return suite_with_gate(gate, device).cases.at(0).gates.at(0);
}

template <class... Settings>
std::string refusal_of_gate(const std::string& gate, const Settings&... settings) {
  try {
    suite_with_gate(gate, settings...);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a gate that names a band gets its worse end, its series and its source") {
  const Json goodput = gate_with_band(R"({"metric": "goodput", "band": "goodput_llama3_405b"})");
  CHECK(goodput["min"] == 0.9);
  CHECK_FALSE(goodput.contains("max"));
  CHECK_THAT(goodput["source"].get<std::string>(), Contains("arXiv:2407.21783"));
  const Json stall =
      gate_with_band(R"({"metric": "training.data_stall", "band": "stall_mlperf_storage"})");
  CHECK(stall["max"] == 0.1);
  CHECK_FALSE(stall.contains("min"));
  const Json mfu = gate_with_band(R"({"metric": "mfu", "band": "mfu_mpt_h100"})", "cuda");
  CHECK(mfu["where"] == Json{{"peak", "given"}});
}

TEST_CASE("a gate refuses a band that does not fit it") {
  CHECK_THAT(refusal_of_gate(R"({"metric": "goodput", "band": "goodput_lama3_405b"})"),
             Contains("/cases/0/gates/0/band: unknown band") &&
                 Contains("Did you mean 'goodput_llama3_405b'?"));
  CHECK_THAT(refusal_of_gate(R"({"metric": "goodput", "band": "mfu_mpt_h100"})"),
             Contains("mfu_mpt_h100 is no band of training.goodput") && Contains("training.mfu"));
  CHECK_THAT(refusal_of_gate(R"({"metric": "goodput", "band": "goodput_llama3_405b", "min": 0.5})"),
             Contains("has a band and a bound of its own"));
  const std::string mfu = R"({"metric": "mfu", "band": "mfu_mpt_h100"})";
  CHECK(refusal_of_gate(mfu, "cuda") == "no error");
  CHECK_THAT(refusal_of_gate(mfu, "host"), Contains("mfu_mpt_h100 is of device cuda, not host"));
  CHECK_THAT(refusal_of_gate(mfu, "cuda", R"({"workload": "dlrm"})"),
             Contains("is of workload llm, not dlrm"));
  CHECK_THAT(
      refusal_of_gate(R"({"metric": "mfu", "band": "mfu_mpt_h100", "where": {"peak": "measured"}})",
                      "cuda"),
      Contains("/where/peak: \"measured\", but mfu_mpt_h100 is of \"given\""));
}
