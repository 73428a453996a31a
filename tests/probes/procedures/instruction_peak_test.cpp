#include <cmath>

#include "core/error.h"
#include "devices/instructions.h"
#include "tests/support/catch.h"
#include "tests/support/fake_instructions.h"

namespace bench {
namespace {

struct PeakJob : FakeCores {
  explicit PeakJob(Json params = Json::object())
      : FakeCores("instruction_peak",
                  {{"dtypes", {"f32"}}, {"isas", Json::array()}, {"threads", {1, 0}}}, params) {
    fake.streams_ = {{Dtype::f32, "wide", "fma wide", 32.0, 2.0},
                     {Dtype::f32, "narrow", "fma narrow", 16.0, 2.0}};
    fake.rates = {2.0, 2.0};
  }
};

TEST_CASE("instruction_peak reports each stream at each thread count with its proven limit") {
  PeakJob job;
  CHECK(job.run().status == Status::ok);
  const Samples one = job.find("throughput", {{"isa", "wide"}, {"threads", 1}});
  CHECK(one.values.at(0) == Approx(2.0 * 32 * kFakeClock));
  CHECK(one.limit->kind == LimitKind::proven);
  CHECK(one.limit->value == Approx(2.0 * 32 * kFakeClock));
  CHECK(one.unit == Unit::flop_per_second);
  const Samples all = job.find("throughput", {{"isa", "wide"}, {"threads", 4}});
  CHECK(all.values.at(0) == Approx(4 * 2.0 * 32 * kFakeClock));
}

TEST_CASE("instruction_peak names the best family's rate, which gemm is measured against") {
  PeakJob job;
  job.run();
  CHECK(job.find("per_cycle", {{"isa", "wide"}}).values.at(0) == Approx(64));
  CHECK(job.find("per_cycle", {{"isa", "narrow"}}).values.at(0) == Approx(32));
  CHECK(job.find("per_cycle", {{"isa", "best"}}).values.at(0) == Approx(64));
}

TEST_CASE("instruction_peak counts integer instructions in OP/s") {
  PeakJob job(Json{{"dtypes", {"int8"}}});
  job.fake.streams_ = {{Dtype::int8, "wide", "dot", 128.0, 2.0}};
  job.fake.rates = {2.0};
  job.run();
  CHECK(job.find("throughput", {{"threads", 1}}).unit == Unit::op_per_second);
}

TEST_CASE("instruction_peak measures only the families asked for") {
  PeakJob job(Json{{"isas", {"narrow"}}});
  job.run();
  for (const Samples& samples : job.sink.samples()) CHECK(samples.params.at("isa") != "wide");
}

TEST_CASE("an impossible rate is unknown, whether too low or too high, and no result is invalid") {
  // 0.66: a loop that spills. 1.3, 1.8: a neighbour slows the stream. 2.2: it slows the clock's
  // chain.
  for (const double rate : {0.66, 1.3, 1.8, 2.2}) {
    INFO(rate);
    PeakJob job;
    job.fake.rates = {rate, 2.0};
    const Outcome outcome = job.run();
    if (rate < 2.0) CHECK(outcome.status == Status::ok);
    const Samples unknown = job.find("per_cycle", {{"isa", "wide"}});
    CHECK(unknown.outcome == Status::skipped);
    CHECK(unknown.reason.find("above any core's rate") != std::string::npos);
    CHECK(job.find("per_cycle", {{"isa", "best"}}).outcome == Status::skipped);
  }
}

TEST_CASE("an unknown rate is ignored if a known one is at least as wide") {
  PeakJob job;
  job.fake.rates = {2.0, 1.8};
  job.run();
  CHECK(job.find("per_cycle", {{"isa", "narrow"}}).outcome == Status::skipped);
  CHECK(job.find("per_cycle", {{"isa", "best"}}).values.at(0) == Approx(64));
}

TEST_CASE("a stream faster than its proven limit is invalid") {
  PeakJob job;
  job.fake.rates = {4.0, 2.0};
  CHECK(job.run().status == Status::invalid);
  CHECK(job.find("throughput", {{"isa", "wide"}, {"threads", 1}}).outcome == Status::invalid);
}

TEST_CASE("where the issue rate of a CPU model is not known, the limit is measured") {
  PeakJob job;
  job.fake.streams_[0].bound_is_known = false;
  job.fake.rates = {4.0, 2.0};  // more than any similar core: no proof that it is wrong
  CHECK(job.run().status == Status::ok);
  for (const int threads : {1, 4}) {
    const Samples rate = job.find("throughput", {{"isa", "wide"}, {"threads", threads}});
    REQUIRE(rate.limit);
    CHECK(rate.limit->kind == LimitKind::measured);
    CHECK(rate.limit->value == Approx(threads * 4.0 * 32 * kFakeClock));
    CHECK_THAT(rate.limit->source, Catch::Matchers::Contains("is not known"));
  }
  CHECK_FALSE(job.find("per_cycle", {{"isa", "wide"}}).limit);
  CHECK(job.find("per_cycle", {{"isa", "narrow"}}).limit->kind == LimitKind::proven);
}

TEST_CASE("under a hypervisor a whole rate above the limit refutes the model that it names") {
  PeakJob job;
  for (InstructionStream& stream : job.fake.streams_) stream.model_is_assigned = true;
  job.fake.rates = {4.0, 2.0};
  CHECK(job.run().status == Status::ok);
  const Samples rate = job.find("throughput", {{"isa", "wide"}, {"threads", 1}});
  REQUIRE(rate.limit);
  CHECK(rate.limit->kind == LimitKind::measured);
  CHECK(rate.limit->value == Approx(4.0 * 32 * kFakeClock));
  CHECK_THAT(rate.limit->source, Catch::Matchers::Contains("the hypervisor names a CPU model"));
  CHECK_FALSE(job.find("per_cycle", {{"isa", "wide"}}).limit);
  CHECK(job.find("per_cycle", {{"isa", "narrow"}}).limit->kind == LimitKind::proven);
}

TEST_CASE("under a hypervisor a rate that could not be measured proves nothing") {
  PeakJob job;
  for (InstructionStream& stream : job.fake.streams_) stream.model_is_assigned = true;
  job.fake.rates = {4.0, 2.0};
  job.fake.reported_rate = 0.66;
  CHECK(job.run().status != Status::invalid);
  CHECK_FALSE(job.find("throughput", {{"isa", "wide"}, {"threads", 1}}).limit);
}

TEST_CASE("where neither the issue rate nor a measured one is known, there is no limit") {
  PeakJob job;
  job.fake.streams_[0].bound_is_known = false;
  job.fake.reported_rate = 0.66;
  job.run();
  CHECK_FALSE(job.find("throughput", {{"isa", "wide"}, {"threads", 1}}).limit);
}

TEST_CASE("a stream with wrong sums is invalid") {
  PeakJob job;
  job.fake.wrong_sums = true;
  CHECK(job.run().status == Status::invalid);
}

TEST_CASE("a dtype without an instruction is skipped with the reason") {
  PeakJob job(Json{{"dtypes", {"bf16"}}});
  CHECK(job.run().status == Status::skipped);
}

TEST_CASE("a device without instruction streams skips the job") {
  PeakJob job;
  job.device.fake_instructions = nullptr;
  CHECK(job.run().status == Status::skipped);
}

TEST_CASE("more threads than cores are refused") {
  CHECK_THROWS_AS(PeakJob(Json{{"threads", {5}}}).run(), Error);
}

TEST_CASE("whole numbers and simple fractions are valid rates, others are unknown") {
  const auto known = [](double rate) {
    PeakJob job;
    job.fake.streams_[0].most_per_cycle = 4.0;
    job.fake.reported_rate = rate;
    job.run();
    return job.find("per_cycle", {{"isa", "wide"}}).outcome == Status::ok;
  };
  for (const double rate : {1.0 / 16, 0.125, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0}) {
    INFO(rate);
    CHECK(known(rate));
    CHECK(known(rate * 0.98));
    CHECK_FALSE(known(rate * 0.9));
  }
  CHECK_FALSE(known(std::nan("")));
  CHECK_FALSE(known(0.0));
}

}  // namespace
}  // namespace bench
