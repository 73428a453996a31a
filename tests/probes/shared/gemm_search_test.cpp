#include "probes/shared/gemm_search.h"

#include "tests/support/catch.h"
#include "tests/support/fake_gemm.h"

namespace bench {
namespace {

const Chunk* chunk_of(const GemmJob& job) {
  for (const Record& record : job.sink.records)
    if (const auto* chunk = std::get_if<Chunk>(&record.body)) return chunk;
  return nullptr;
}

/// The fake really multiplies, so the search must end after its first, small shapes.
GemmJob searching(double budget_s) {
  return GemmJob(Json{{"search_s", budget_s}, {"shapes", {{8, 8, 8}}}});
}

TEST_CASE("no shape search runs unless requested") {
  GemmJob job;
  job.run();
  CHECK(chunk_of(job) == nullptr);
  CHECK(job.of("throughput").size() == 1);
}

TEST_CASE("the shape found is measured and verified like any other, and labelled as searched") {
  GemmJob job = searching(0.02);
  CHECK(job.run().status == Status::ok);
  const auto series = job.of("throughput");
  REQUIRE(series.size() == 2);
  CHECK_FALSE(series[0].params.contains("searched"));
  CHECK(series[1].params["searched"] == true);
  CHECK(series[1].params["m"] == 256);
  CHECK(series[1].check->passed());
  const Chunk* tried = chunk_of(job);
  REQUIRE(tried != nullptr);
  CHECK(tried->name == "shape_search");
  CHECK(tried->columns["m"][0] == 256);
  CHECK(tried->columns["seconds"][0] == Approx(1e-3));
  for (const Json& column : tried->columns) CHECK(column.size() == tried->columns["m"].size());
}

TEST_CASE("a wrong product of the shape found is detected") {
  GemmJob job = searching(0.02);
  job.fake.fault = GemmFault::sign_of_timed;
  CHECK(job.run().status == Status::invalid);
  for (const Samples& series : job.of("throughput")) CHECK(series.outcome == Status::invalid);
}

TEST_CASE("a product has a rate per cycle only if it is right") {
  GemmJob right, wrong;
  right.run();
  CHECK(right.of("per_cycle").size() == 1);
  wrong.fake.fault = GemmFault::sign_of_timed;
  CHECK(wrong.run().status == Status::invalid);
  CHECK(wrong.of("per_cycle").empty());
}

TEST_CASE("a library without such a product skips the search with its reason") {
  GemmJob job = searching(0.02);
  job.fake.reason = "no such product";
  CHECK(job.run().status == Status::skipped);
  const auto series = job.of("throughput");
  REQUIRE(series.size() == 2);
  CHECK(series[1].params["searched"] == true);
  CHECK(series[1].reason == "no such product");
}

/// Keeps what it was given.
class Listener final : public GemmPlan {
 public:
  std::string library() const override { return ""; }
  std::string implementation() const override { return ""; }
  std::string isa() const override { return ""; }
  bool packed() const override { return false; }
  Dtype output() const override { return Dtype::f32; }
  void load(std::span<const std::byte> given_a, std::span<const std::byte> given_b) override {
    a.assign(given_a.begin(), given_a.end());
    b.assign(given_b.begin(), given_b.end());
  }
  void clear() override {}
  void run(std::int64_t) override {}
  std::vector<std::byte> result() const override { return {}; }
  std::optional<Hertz> clock() override { return {}; }
  std::vector<std::byte> a, b;
};

TEST_CASE("a search over block-scaled products adapts the number of scales to each shape") {
  GemmJob job(Json{{"search_s", 0.02}, {"dtypes", {"nvfp4"}}, {"shapes", {{8, 8, 32}}}});
  CHECK(job.run().status == Status::ok);
  CHECK(job.of("throughput").back().params["searched"] == true);
}

TEST_CASE("matrices for trials have the size of each shape and random values to the end") {
  TrialMatrices matrices(Dtype::bf16, 1);
  Listener plan;
  for (const GemmShape shape : {GemmShape{2048, 1024, 2048}, GemmShape{256, 256, 256}}) {
    matrices.load(plan, shape);
    CHECK(plan.a.size() == static_cast<std::size_t>(shape.m * shape.k * 2));
    CHECK(plan.b.size() == static_cast<std::size_t>(shape.k * shape.n * 2));
    const auto row = [&](std::int64_t i) {
      const auto begin = plan.a.begin() + i * shape.k * 2;
      return std::vector<std::byte>(begin, begin + shape.k * 2);
    };
    CHECK(row(0) != row(1));
    CHECK(row(0) != row(shape.m / 2));
    CHECK(row(0) != row(shape.m - 1));
  }
}

}  // namespace
}  // namespace bench
