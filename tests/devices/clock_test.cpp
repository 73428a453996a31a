#include "devices/instructions.h"
#include "tests/support/catch.h"
#include "tests/support/fake_instructions.h"

namespace bench {
namespace {

struct ClockJob : FakeCores {
  explicit ClockJob(Json params = Json::object())
      : FakeCores("clock", {{"threads", {1, 0}}}, params) {
    fake.chains_ = {{"add", 1.0}, {"multiply", 3.0}};
    fake.chain_speed = {1.0, 1.0};
  }
};

TEST_CASE("clock reports cycles of the chain per second, alone and all cores at once") {
  ClockJob job;
  CHECK(job.run().status == Status::ok);
  CHECK(job.find("frequency", {{"threads", 1}}).values.at(0) == Approx(kFakeClock));
  CHECK(job.find("frequency", {{"threads", 4}}).unit == Unit::hertz);
  CHECK_FALSE(job.find("frequency", {{"threads", 1}}).limit);
}

TEST_CASE("clock shows the highest clock the system names as a datasheet limit") {
  ClockJob job;
  job.fake.highest = Hertz{4e9};
  job.run();
  const auto limit = job.find("frequency", {{"threads", 1}}).limit;
  REQUIRE(limit);
  CHECK(limit->value == 4e9);
  CHECK(limit->kind == LimitKind::datasheet);
}

TEST_CASE("a chain that the core shortens is found by the other chain") {
  ClockJob job;
  job.fake.chain_speed = {4.5, 1.0};  // 18 GHz, as `add $1` reads on newer cores
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::skipped);
  CHECK(outcome.reason.find("disagree by 350") != std::string::npos);
}

TEST_CASE("chains that differ by one percent agree, by three they do not") {
  ClockJob near;
  near.fake.chain_speed = {1.01, 1.0};
  CHECK(near.run().status == Status::ok);
  ClockJob far;
  far.fake.chain_speed = {1.03, 1.0};
  CHECK(far.run().status == Status::skipped);
}

TEST_CASE("a neighbour that leaves spoils no clock; one that stays makes it unknown, never wrong") {
  ClockJob leaves;
  leaves.fake.slowed_walks = 500;
  CHECK(leaves.run().status == Status::ok);
  CHECK(leaves.find("frequency", {{"threads", 1}}).values.at(0) == Approx(kFakeClock));
  ClockJob stays;
  stays.fake.slowed_walks = 1'000'000;
  CHECK(stays.run().status == Status::skipped);
}

TEST_CASE("a chain that was not walked to its end is found") {
  ClockJob job;
  job.fake.wrong_sums = true;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("clock skips where no chain of known length exists") {
  ClockJob job;
  job.fake.chains_.clear();
  CHECK(job.run().status == Status::skipped);
}

}  // namespace
}  // namespace bench
