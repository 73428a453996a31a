#include "core/job.h"

#include "core/error.h"
#include "core/schema.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

Job full_job() {
  Job job;
  job.id = "03.gemm.2";
  job.case_name = "gemm-f32";
  job.probe = "gemm";
  job.device = "cuda";
  job.params = {{"dtype", "f32"}, {"sizes", {256, 512}}};
  job.hosts = {"node01", "node02"};
  job.part = {{"rail", 2}, {"card", "mlx5_2"}};
  job.ranks = 4;
  job.binding = "socket";
  job.env = {{"OMP_NUM_THREADS", "2"}, {"EMPTY", ""}};
  job.seed = 18446744073709551615u;
  job.repeat = 2;
  job.timeout_s = 12.5;
  job.measure = {.min_clean = 10,
                 .interval = 0.02,
                 .max_samples = 100,
                 .min_time_s = 0.1,
                 .max_time_s = 1.5,
                 .warm_up_max_s = 0.5,
                 .min_sample_s = 0.002};
  job.telemetry = {.enabled = true, .period_s = 0.5};
  job.limits = {
      {"throughput", {{"dtype", "f32"}}, {1e12, LimitKind::measured, "instruction_peak"}}};
  job.golden = {{{{"chip", "GPU"}, {"m", 512}}, "00ff00ff00ff00ff", "hosts/golden/x.json"}};
  return job;
}

Job smallest_job() {
  Job job;
  job.id = "1";
  job.probe = "null";
  return job;
}

std::string refusal(const std::string& pointer, const Json& value) {
  Json json = to_json(full_job());
  json[Json::json_pointer(pointer)] = value;
  try {
    job_from_json(json);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a job survives JSON and text") {
  for (const Job& job : {full_job(), smallest_job()}) {
    const Json json = to_json(job);
    CHECK(to_json(job_from_json(parse_json(dump(json), "test"))) == json);
  }
  const Job back = job_from_json(to_json(full_job()));
  CHECK(back.seed == 18446744073709551615u);
  CHECK(back.env.at("OMP_NUM_THREADS") == "2");
  CHECK(back.measure.min_clean == 10);
  CHECK(back.measure.interval == 0.02);
  CHECK(back.measure.max_samples == 100);
  CHECK(back.measure.min_time_s == 0.1);
  CHECK(back.measure.max_time_s == 1.5);
  CHECK(back.measure.warm_up_max_s == 0.5);
  CHECK(back.measure.min_sample_s == 0.002);
  CHECK(back.telemetry.enabled);
  CHECK(back.telemetry.period_s == 0.5);
  CHECK(back.limits.at(0).limit.value == 1e12);
  CHECK(back.part == Json{{"rail", 2}, {"card", "mlx5_2"}});
}

TEST_CASE("a job satisfies schemas/job.json, whose defaults are those of the program") {
  const Schema schema = Schema::load("schemas/job.json");
  CHECK_NOTHROW(schema.check(to_json(full_job()), "job"));
  const Json small = {{"id", "1"}, {"probe", "null"}, {"params", Json::object()}};
  CHECK(schema.check(small, "job") == to_json(smallest_job()));
  CHECK(to_json(job_from_json(small)) == to_json(smallest_job()));
}

TEST_CASE("a wrong job is refused, naming the place and the value") {
  CHECK_THAT(refusal("/id", ""), Contains("job: /id"));
  CHECK_THAT(refusal("/device", "hots"),
             Contains("/device: \"hots\"") && Contains("Did you mean 'host'?"));
  CHECK_THAT(refusal("/binding", "numa"), Contains("job: /binding"));
  CHECK_THAT(refusal("/ranks", 0),
             Contains("/ranks: expected an integer from 1") && Contains("got 0"));
  CHECK_THAT(refusal("/timeout_s", 0), Contains("/timeout_s: expected a number above 0"));
  CHECK_THAT(refusal("/timeout_s", 1e9), Contains("/timeout_s"));
  CHECK_THAT(refusal("/seed", -1), Contains("/seed"));
  CHECK_THAT(refusal("/hosts/0", ""), Contains("/hosts"));
  CHECK_THAT(refusal("/part/rail", -1), Contains("job: /part/rail"));
  CHECK_THAT(refusal("/part/card", ""), Contains("job: /part/card"));
  CHECK_THAT(refusal("/part/slot", 1), Contains("job: /part/slot: unknown key"));
  CHECK_THAT(refusal("/measure/min_clean", 0), Contains("job: /measure/min_clean"));
  CHECK_THAT(refusal("/measure/minimum", 0), Contains("job: /measure/minimum: unknown key"));
  CHECK_THAT(refusal("/measure", nullptr), Contains("job: /measure"));
  CHECK_THAT(refusal("/telemetry/enabled", 1), Contains("job: /telemetry/enabled"));
  CHECK_THAT(refusal("/telemetry/period_s", 0.0), Contains("job: /telemetry/period_s"));
  CHECK_THAT(refusal("/limits/0/limit/kind", "x"), Contains("job: /limits/0/limit/kind"));
  CHECK_THAT(refusal("/parms", 1), Contains("Did you mean 'params'?"));
}

TEST_CASE("an environment that a launcher could misread is refused") {
  for (const char* name : {"", "A=B", "1A", "A B", "A;rm", "\xc3\xa4"})
    CHECK_THAT(refusal("/env", {{name, "x"}}), Contains("job: /env: expected names of variables"));
  CHECK_THAT(refusal("/env/A", std::string("a\0b", 3)), Contains("/env"));
  CHECK_THAT(refusal("/env/A", 1), Contains("/env"));
}
