// Runs under mpirun with 2 or 3 ranks on the host's memory and products.
#include <set>
#include <thread>

#include "core/error.h"
#include "devices/collectives.h"
#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"

namespace bench {
namespace {

constexpr const char* kSmall = R"({"loads": ["gemm", "memory", "copy"], "dtype": "f32",
  "shape": [64, 64, 64], "size_bytes": 4194304, "threads": 1})";

TEST_CASE("each rank is measured alone and all together; what no rank can have is skipped") {
  Group& group = mpi_test_group();
  const MpiRun run = run_briefly(group, "concurrency", parse_json(kSmall, "test"));
  CHECK(run.outcome.status == Status::ok);
  if (group.rank() != 0) return;
  int alone = 0, together = 0, kept = 0;
  for (const Samples& samples : run.samples) {
    if (samples.metric == "copy_rate") CHECK(samples.outcome == Status::skipped);
    if (samples.metric == "sustained_ratio") {
      ++kept;
      CHECK(samples.values.at(0) > 0.0);
    } else if (samples.params.contains("active")) {
      CHECK(samples.check->passed());
      ++(samples.params.at("active") == "all" ? together : alone);
    }
  }
  CHECK(alone == 2 * group.size());
  CHECK(together == 2);
  CHECK(kept == 2);
}

TEST_CASE(
    "communication and products are measured alone and at once, and what was hidden is told") {
  Group& group = mpi_test_group();
  const MpiRun run = run_briefly(group, "concurrency",
                                 parse_json(R"({"loads": ["communication"], "dtype": "f32",
        "shape": [96, 96, 96], "threads": 1, "message_bytes": 262144})",
                                            "test"));
  INFO(run.outcome.reason);
  CHECK(run.outcome.status == Status::ok);
  if (group.rank() != 0) return;
  std::set<std::string> active, slowed;
  int overlaps = 0;
  for (const Samples& samples : run.samples) {
    if (samples.metric == "overlap_ratio") {
      ++overlaps;
      CHECK((samples.values.at(0) >= 0.0 && samples.values.at(0) <= 1.0));
    } else if (samples.metric == "slowdown") {
      slowed.insert(samples.params.at("of").get<std::string>());
      CHECK(samples.values.at(0) > 0.0);
    } else {
      active.insert(samples.metric + " " + samples.params.at("active").get<std::string>());
      CHECK((samples.check && samples.check->passed()));
    }
  }
  CHECK(overlaps == 1);
  CHECK(slowed == std::set<std::string>{"communication", "computation"});
  CHECK(active == std::set<std::string>{"communication_rate communication", "gemm_rate computation",
                                        "communication_rate both", "gemm_rate both"});
}

/// Real MPI, also alongside computations, whose result is spoiled on rank 1.
class SpoiledCollectives final : public PassingCollectives {
 public:
  explicit SpoiledCollectives(Group& group) : PassingCollectives(group), group_(group) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    PassingCollectives::run(op, send, recv, count, dtype);
    if (group_.rank() == 1) static_cast<std::byte*>(recv)[3] ^= std::byte{1};
  }

 private:
  Group& group_;
};

TEST_CASE("a flipped bit in data communicated during GEMMs is detected") {
  SpoiledCollectives spoiled(mpi_test_group());
  GroupWith group(mpi_test_group(), spoiled);
  const MpiRun run = run_briefly(group, "concurrency",
                                 parse_json(R"({"loads": ["communication"], "dtype": "f32",
        "shape": [32, 32, 32], "threads": 1, "message_bytes": 4096})",
                                            "test"));
  CHECK(run.outcome.status == Status::invalid);
  for (const Samples& samples : run.samples)
    if (samples.params.value("active", "") == "both") CHECK(samples.outcome == Status::invalid);
}

TEST_CASE("communication of a type that the library cannot sum is skipped") {
  const MpiRun run =
      run_briefly(mpi_test_group(), "concurrency",
                  parse_json(R"({"loads": ["communication"], "message_dtype": "bf16"})", "test"));
  CHECK(run.outcome.status == Status::skipped);
  CHECK(run.outcome.reason == "MPI cannot sum this type");
}

TEST_CASE("concurrent computation runs in one other thread, and its errors are rethrown") {
  Overlap* overlap = mpi_test_group().collectives()->overlap();
  REQUIRE(overlap != nullptr);
  const auto here = std::this_thread::get_id();
  std::thread::id computing, together;
  overlap->run_computation([&] { computing = std::this_thread::get_id(); });
  overlap->together([] { mpi_test_group().barrier(); },
                    [&] { together = std::this_thread::get_id(); });
  CHECK(computing != here);
  CHECK(computing == together);
  CHECK(overlap->last_parts().communication.value > 0.0);
  CHECK_THROWS_AS(overlap->together({}, [] { throw Error(ErrorKind::internal, "x"); }), Error);
  CHECK_THROWS_AS(overlap->together([] { throw Error(ErrorKind::internal, "x"); }, [] {}), Error);
  CHECK_NOTHROW(overlap->together({}, {}));
  CHECK(overlap->last_parts().computation.value == 0.0);
}

}  // namespace
}  // namespace bench
