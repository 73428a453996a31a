#include "results/run/result_hashes.h"

#include "core/schema.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kOne = "1111111111111111";
constexpr const char* kTwo = "2222222222222222";

Facts hash_fact(const std::string& device, const std::string& hash, Json golden = nullptr,
                const std::string& chip = "GPU X") {
  return {"result_hash",
          {{"key", {{"chip", chip}, {"library", "lib"}, {"version", "1.2"}, {"m", 8}}},
           {"hash", hash},
           {"golden", std::move(golden)},
           {"source", "x.json"},
           {"rank", 0},
           {"device", device}}};
}

/// One job a device, each with one series and one hash.
RunFixture run_of(const std::vector<Facts>& facts) {
  RunFixture run;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const std::string id = "0" + std::to_string(i) + ".gemm";
    run.job(id, "products", "gemm");
    run.add(id, samples("throughput", 1e12)).add(id, facts[i]).outcome(id);
  }
  return run.end();
}

TEST_CASE("identical devices that agree are not a finding") {
  const auto run = run_of({hash_fact("GPU-a", kOne), hash_fact("GPU-b", kOne)}).records();
  CHECK(result_hashes(run).size() == 2);
  CHECK(disagreements(result_hashes(run)).empty());
  CHECK(make_run_report(run).exit_code == ExitCode::ok);
}

TEST_CASE("if identical devices disagree the minority is listed first, and the run fails") {
  const auto run =
      run_of({hash_fact("GPU-a", kOne), hash_fact("GPU-b", kTwo), hash_fact("GPU-c", kOne)})
          .records();
  const auto found = disagreements(result_hashes(run));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found.front(), Contains(kOne) && Contains(kTwo) && Contains("GPU X"));
  CHECK(found.front().find("GPU-b") < found.front().find("GPU-a"));
  const RunReport report = make_run_report(run);
  CHECK(report.outcome == Status::invalid);
  CHECK(report.exit_code == ExitCode::failed);
  CHECK_THAT(to_text(report, {}), Contains("identical devices gave different results"));
}

TEST_CASE("different kinds of devices may differ") {
  const auto run = run_of({hash_fact("GPU-a", kOne, nullptr, "GPU X"),
                           hash_fact("GPU-b", kTwo, nullptr, "GPU Y")})
                       .records();
  CHECK(disagreements(result_hashes(run)).empty());
}

TEST_CASE("results without a golden value are listed, those with one counted") {
  const auto run = run_of({hash_fact("GPU-a", kOne), hash_fact("GPU-b", kOne, kOne)}).records();
  const RunReport report = make_run_report(run);
  const std::string text = to_text(report, {});
  CHECK_THAT(text, Contains("1 match the golden value") &&
                       Contains("no golden value for 1 result of GPU X, lib 1.2"));
  const Json json = to_json(report);
  CHECK(json["hashes"]["golden"] == 1);
  CHECK(json["hashes"]["different"].empty());
  CHECK(json["hashes"]["without_golden"].size() == 1);
}

TEST_CASE(
    "a result that differs from its golden value is listed with both hashes, file and device") {
  const auto run = run_of({hash_fact("GPU-a", kOne, kTwo)}).records();
  const auto found = unlike_golden(result_hashes(run));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found.front(),
             Contains(kOne) && Contains(kTwo) && Contains("x.json") && Contains("GPU-a"));
  CHECK_THAT(to_text(make_run_report(run), {}), Contains("1 differ from the golden value"));
}

TEST_CASE("a run without hashes has no hash section") {
  RunFixture run;
  run.job("01", "a", "null").add("01", samples("value", 1.0)).outcome("01").end();
  CHECK_THAT(to_text(make_run_report(run.records()), {}), !Contains("Result hashes"));
}

TEST_CASE("a corrupt hash is skipped") {
  Facts damaged = hash_fact("GPU-a", "no hash");
  Facts keyless = hash_fact("GPU-a", kOne);
  keyless.facts.erase("key");
  CHECK(
      result_hashes(run_of({damaged, keyless, {"result_hash", Json::object()}}).records()).empty());
}

TEST_CASE("golden values come from ok results on known chips that agree, each once") {
  const auto values = [](const RunFixture& run) {
    const Json document = golden_document(run.records());
    Schema::load("schemas/golden.json").check(document, "document");
    return document["values"];
  };
  const Json twice = values(run_of({hash_fact("a", kOne), hash_fact("b", kOne)}));
  REQUIRE(twice.size() == 1);
  CHECK(twice[0]["hash"] == kOne);
  CHECK(twice[0]["probe"] == "gemm");
  CHECK(values(run_of({hash_fact("a", kOne), hash_fact("b", kTwo)})).empty());
  CHECK(values(run_of({hash_fact("a", kOne, nullptr, "")})).empty());
  RunFixture invalid = run_of({hash_fact("a", kOne)});
  invalid.outcome("00.gemm", Status::invalid, "wrong");
  CHECK(values(invalid).empty());
}

}  // namespace
}  // namespace bench
