#include "probes/object_storage/object_store.h"

#include <cstddef>
#include <vector>

#include "core/error.h"
#include "probes/object_storage/object_load.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench::object_storage {
namespace {

using Catch::Matchers::Contains;

// A reserved port, at which nobody listens.
const std::string kNobody = "http://127.0.0.1:1";

Json nobody() { return {{"endpoint", kNobody}, {"bucket", "b"}, {"seconds", 0.1}}; }

}  // namespace

#if BENCH_CURL_FOUND
TEST_CASE("libcurl is compiled in and loaded if the build found it") {
  CHECK(no_client().empty());
  CHECK_THAT(client_version(), Contains("libcurl/"));
}

TEST_CASE("nobody at the endpoint fails the job with its address") {
  ProbeJob job("object_storage", nobody());
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::failed);
  CHECK_THAT(outcome.reason, Contains("HEAD " + kNobody + "/b: ") && Contains("check 'endpoint'"));
  CHECK(job.of("bandwidth").empty());
}

TEST_CASE("sizes that are no whole blocks, or less than an object a thread, are refused") {
  Json params = nobody();
  SECTION("size") {
    params["size_bytes"] = 1 << 20;
    ProbeJob job("object_storage", params);
    CHECK_THAT(job.run().reason, Contains("less than one object of 8388608 for each of 1 threads; "
                                          "increase size_bytes"));
  }
  SECTION("object") {
    params["object_bytes"] = {5000};
    ProbeJob job("object_storage", params);
    CHECK_THAT(job.run().reason, Contains("multiples of 4096"));
  }
}
#else
TEST_CASE("without libcurl the job is skipped and says what to install") {
  ProbeJob job("object_storage", nobody());
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::skipped);
  CHECK_THAT(outcome.reason, Contains("libcurl4-openssl-dev"));
}
#endif

TEST_CASE("the bucket is required, and the endpoint is a URL") {
  CHECK_THROWS_WITH(ProbeJob("object_storage", {{"endpoint", kNobody}}), Contains("bucket"));
  CHECK_THROWS_WITH(ProbeJob("object_storage", {{"bucket", "b"}, {"endpoint", "http://u:p@host"}}),
                    Contains("endpoint"));
}

}  // namespace bench::object_storage
