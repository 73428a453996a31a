// The probe `serving` against a server whose limits are known.
#include <set>

#include "core/error.h"
#include "probes/serving/serving_client.h"
#include "tests/probes/serving/stand_in_server.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench::serving {
namespace {

using Catch::Matchers::Contains;

Json quick(const std::string& url) {
  return {{"url", url},
          {"rates", {20, 40}},
          {"clients", Json::array()},
          {"seconds", 0.4},
          {"ramp_s", 0.05},
          {"drain_s", 2.0},
          {"prompt_tokens", {20, 40}},
          {"output_tokens", {4, 4}},
          {"refinements", 0}};
}

Json facts_of(const ProbeJob& job) {
  for (const Record& record : job.sink.records)
    if (const auto* facts = std::get_if<Facts>(&record.body))
      if (facts->topic == "serving") return facts->facts;
  FAIL("no facts");
  return {};
}

std::string warnings_of(const ProbeJob& job) { return dump(facts_of(job).at("warnings")); }

}  // namespace

TEST_CASE("the probe serving finds the highest rate within the bounds") {
  if (!no_serving_client().empty()) return;
  // One at a time, about 13 ms each: some 75 requests a second.
  const StandInServer server({.first_token = {0.01}, .per_token = {0.001}, .most_at_once = 1});
  Json params = quick(server.url());
  params["rates"] = {10, 300, 600};
  params["clients"] = {1};
  params["refinements"] = 1;
  params["first_token_bound_s"] = 0.3;
  ProbeJob job("serving", params);
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  REQUIRE(job.of("highest_rate").size() == 1);
  CHECK(job.of("highest_rate").front().values.at(0) == 10.0);
  std::set<std::string> loads;
  for (const Samples& samples : job.of("token_rate")) {
    loads.insert(samples.params.contains("rate") ? dump(samples.params.at("rate")) : "closed");
    // Few answers in each twentieth of the time: one rate.
    if (samples.outcome == Status::ok) CHECK(samples.values.size() == 1);
    if (samples.params.value("rate", 0.0) == 600.0)
      CHECK_THAT(samples.reason, Contains("300 requests/s missed the bounds already"));
  }
  CHECK(loads == std::set<std::string>{"10.0", "155.0", "300.0", "600.0", "closed"});
  CHECK(facts_of(job).at("model") == "stand-in");
  CHECK(facts_of(job).at("tokens_per_word").get<double>() ==
        Approx(double{StandInServer::kTokensPerWord}));
  CHECK(facts_of(job).at("extra_prompt_tokens").get<double>() ==
        Approx(double{StandInServer::kMoreTokens}));
}

TEST_CASE("a highest rate is a lower bound where every rate was within the bounds") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({});
  ProbeJob job("serving", quick(server.url()));
  CHECK(job.run().status == Status::ok);
  CHECK(job.of("highest_rate").front().values.at(0) == 40.0);
  CHECK_THAT(warnings_of(job), Contains("try higher ones"));
  for (const Samples& samples : job.of("failed_requests")) CHECK(samples.values.at(0) == 0.0);
}

TEST_CASE("no rate within the bounds is said, not counted as zero") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({.first_token = {0.05}});
  Json params = quick(server.url());
  params["first_token_bound_s"] = 0.01;
  ProbeJob job("serving", params);
  job.run();
  REQUIRE(job.of("highest_rate").size() == 1);
  CHECK(job.of("highest_rate").front().outcome == Status::skipped);
  CHECK_THAT(job.of("highest_rate").front().reason, Contains("already 20 requests/s"));
}

TEST_CASE("a rate at which no request was due is neither within the bounds nor outside") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({});
  Json params = quick(server.url());
  params["rates"] = {0.01};
  ProbeJob job("serving", params);
  job.run();
  CHECK_THAT(job.of("highest_rate").front().reason, Contains("no request was due"));
  CHECK_THAT(job.of("first_token_latency").front().reason, Contains("no request was due"));
}

TEST_CASE("a server that does not answer well is an error that says what to do") {
  if (!no_serving_client().empty()) return;
  const auto reason_of = [](const Json& params) {
    ProbeJob job("serving", params);
    const Outcome outcome = job.run();
    CHECK(outcome.status == Status::failed);
    return outcome.reason;
  };
  CHECK_THAT(reason_of(quick("")), Contains("no server is named") && Contains("OPENAI_BASE_URL"));
  CHECK_THAT(reason_of(quick("http://127.0.0.1:9/v1")), Contains("/models"));
  const StandInServer strict({.key = "sk-stand-in-1234"});
  Json params = quick(strict.url());
  params["model"] = "stand-in";
  CHECK_THAT(reason_of(params), Contains("status 401") && Contains("OPENAI_API_KEY"));
  const StandInServer plain({.knows_ignore_eos = false});
  CHECK_THAT(reason_of(quick(plain.url())), Contains("ignore_eos false"));
  params = quick(plain.url());
  params["output_tokens"] = {9, 4};
  CHECK_THAT(reason_of(params), Contains("output_tokens is 9 to 4"));
}

TEST_CASE("many answers give a rate for each twentieth of the time") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({});
  Json params = quick(server.url());
  params["rates"] = {400};
  params["seconds"] = 1.0;
  ProbeJob job("serving", params);
  CHECK(job.run().status == Status::ok);
  for (const char* metric : {"token_rate", "request_rate"})
    CHECK(job.of(metric).front().values.size() == 20);
}

TEST_CASE("failures, uncounted tokens and answers that never repeat are warnings") {
  if (!no_serving_client().empty()) return;
  const auto warnings = [](const StandInSetting& setting, const char* interface) {
    const StandInServer server(setting);
    Json params = quick(server.url());
    params["interface"] = interface;
    params["rates"] = {40};
    if (setting.fault == ServerFault::overloaded) params["checks"] = 0;  // which must be answered
    ProbeJob job("serving", params);
    CHECK(job.run().status == Status::ok);
    return warnings_of(job);
  };
  CHECK_THAT(warnings({.fault = ServerFault::overloaded, .fault_every = 4}, "chat"),
             Contains("requests failed") && Contains("status 503: overloaded"));
  CHECK_THAT(warnings({.fault = ServerFault::without_count}, "completions"),
             Contains("does not count tokens"));
  CHECK_THAT(warnings({.forgets = true}, "completions"),
             Contains("answers the same request differently without load"));
}

}  // namespace bench::serving
