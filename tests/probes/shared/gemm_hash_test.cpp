#include "probes/shared/gemm_search.h"
#include "tests/support/catch.h"
#include "tests/support/fake_gemm.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

Json told_by(GemmJob& job) {
  job.run();
  REQUIRE(job.hashes().size() == 1);
  return job.hashes().front();
}

TEST_CASE("the hash of each product is recorded with everything that decides its bits") {
  GemmJob job;
  const Json told = told_by(job);
  CHECK(told["key"] == Json{{"chip", "fake chip"},
                            {"library", "fake"},
                            {"version", "1.0"},
                            {"implementation", "three loops"},
                            {"dtype", "f32"},
                            {"m", 8},
                            {"n", 8},
                            {"k", 8},
                            {"threads", 1},
                            {"packed", false},
                            {"seed", 1}});
  CHECK(is_result_hash(told["hash"]));
  CHECK(told["device"] == "fake");
  CHECK(told["rank"] == 0);
}

TEST_CASE("the hash depends only on the seed and the bits") {
  GemmJob one, same, other, faulty;
  other.job.seed = 2;
  faulty.fake.fault = GemmFault::last_bit_always;
  const Json hash = told_by(one)["hash"];
  CHECK(told_by(same)["hash"] == hash);
  CHECK(told_by(other)["hash"] != hash);
  CHECK(told_by(faulty)["hash"] != hash);
}

TEST_CASE("a result without a golden value reports that and passes by its other checks") {
  GemmJob job;
  CHECK(told_by(job)["golden"].is_null());
  CHECK(job.series("throughput").outcome == Status::ok);
}

TEST_CASE("a result with the golden hash passes and reports the golden value's source") {
  GemmJob first;
  const Json told = told_by(first);
  GemmJob again;
  again.job.golden = {{told["key"], told["hash"], "chips.json"}};
  CHECK(again.run().status == Status::ok);
  CHECK(again.hashes().front()["golden"] == told["hash"]);
  CHECK(again.hashes().front()["source"] == "chips.json");
}

TEST_CASE("a result with a hash other than the golden one is invalid, with both and the file") {
  GemmJob first;
  const Json told = told_by(first);
  GemmJob again;
  again.job.golden = {{told["key"], "0123456789abcdef", "chips.json"}};
  CHECK(again.run().status == Status::invalid);
  const std::string reason = again.series("throughput").reason;
  CHECK_THAT(reason, Contains("0123456789abcdef") && Contains("chips.json") &&
                         Contains(told["hash"].get<std::string>()));
}

TEST_CASE("a golden value of another chip, version or shape is ignored") {
  GemmJob first;
  const Json told = told_by(first);
  for (const auto& [name, value] : std::vector<std::pair<std::string, Json>>{
           {"chip", "another"}, {"version", "1.1"}, {"m", 16}, {"seed", 3}}) {
    Json key = told["key"];
    key[name] = value;
    GemmJob again;
    again.job.golden = {{key, "0123456789abcdef", "chips.json"}};
    CHECK(again.run().status == Status::ok);
    CHECK(again.hashes().front()["golden"].is_null());
  }
}

TEST_CASE("products of zeros are never compared with the golden value of random matrices") {
  GemmJob first;
  const Json told = told_by(first);
  GemmJob zeros(Json{{"values", "zeros"}});
  zeros.job.golden = {{told["key"], told["hash"], "chips.json"}};
  CHECK(zeros.run().status == Status::ok);
  CHECK(zeros.hashes().front()["key"]["values"] == "zeros");
}

}  // namespace
}  // namespace bench
