#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

Json five_of_two(const Json& params) {
  Json all = {{"value", 2.0}, {"samples", 5}};
  all.update(params);
  return all;
}

struct NullJob : ProbeJob {
  explicit NullJob(const Json& params) : ProbeJob("null", five_of_two(params)) {}
};

TEST_CASE("null reports the requested value") {
  NullJob n(Json::object());
  CHECK(n.run().status == Status::ok);
  CHECK(n.sink.samples().at(0).values == std::vector<double>(5, 2.0));
}

TEST_CASE("null repeats its noise for the same seed and changes it with the repeat") {
  NullJob a(Json{{"noise", 0.1}});
  NullJob b(Json{{"noise", 0.1}});
  NullJob c(Json{{"noise", 0.1}});
  c.job.repeat = 1;
  a.run(), b.run(), c.run();
  CHECK(a.sink.samples()[0].values == b.sink.samples()[0].values);
  CHECK(a.sink.samples()[0].values != c.sink.samples()[0].values);
}

TEST_CASE("null ends with the requested outcome") {
  CHECK(NullJob(Json{{"outcome", "skipped"}}).run().status == Status::skipped);
  CHECK(NullJob(Json{{"outcome", "invalid"}}).run().status == Status::invalid);
  CHECK_THROWS_AS(NullJob(Json{{"outcome", "failed"}}).run(), Error);
}

TEST_CASE("a misspelt probe is answered with the nearest name") {
  CHECK_THROWS_WITH(find_probe("nul"), Catch::Contains("null"));
}

}  // namespace
}  // namespace bench
