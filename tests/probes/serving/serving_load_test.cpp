// Loads on a server whose delays and faults are known.
#include "probes/serving/serving_load.h"

#include "core/error.h"
#include "tests/probes/serving/stand_in_server.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"

namespace bench::serving {
namespace {

using Catch::Matchers::Contains;

ServingLoad short_load(double rate) {
  ServingLoad load;
  load.load = {.rate = rate, .ramp = {0.05}, .duration = {0.4}, .drain = {5.0}};
  load.requests = {.model = "stand-in", .prompt = {5, 20}, .output = {6, 6}};
  load.slice = {0.04};
  return load;
}

ServingResult result_of(const StandInSetting& server, const ServingLoad& load) {
  const StandInServer running(server);
  ServingClient client({.url = running.url(), .api_key = server.key});
  return run_load(client, load);
}

double sum(const std::vector<double>& values) {
  double total = 0.0;
  for (const double one : values) total += one;
  return total;
}

/// What becomes of requests of which each second one meets a fault.
ServingResult faulty(ServerFault fault) {
  return result_of({.fault = fault, .fault_every = 2}, short_load(100.0));
}

}  // namespace

TEST_CASE("latencies of a server are at least its delays, and everything is counted") {
  if (!no_serving_client().empty()) return;
  const ServingResult result = result_of(
      {.first_token = {0.02}, .per_token = {0.004}, .in_small_pieces = true}, short_load(100.0));
  CHECK(result.due > 15.0);
  CHECK(result.answered == result.due);
  CHECK(result.failed + result.unfinished + result.short_answers + result.uncounted == 0.0);
  CHECK(result.in_bounds == result.due);
  CHECK(result.first_token.count() == result.due);
  CHECK(result.inter_token.count() == 5.0 * result.due);
  CHECK(result.output_tokens == 6.0 * result.due);
  CHECK(result.slice_tokens.size() == 10);
  CHECK(sum(result.slice_tokens) > 60.0);
  CHECK(sum(result.slice_answers) > 10.0);
  CHECK(result.first_token.quantile(0.01).value > 0.02);
  CHECK(result.request.quantile(0.01).value > 0.04);
  CHECK(result.per_token.quantile(0.5).value > 0.003);
  CHECK(result.open_s > 15.0 * 0.03);
}

TEST_CASE("a request that waits for a server counts from when it was due") {
  if (!no_serving_client().empty()) return;
  // One at a time, 20 ms each: twice what the server can do.
  const StandInSetting server{.first_token = {0.01}, .per_token = {0.002}, .most_at_once = 1};
  const ServingResult open = result_of(server, short_load(100.0));
  CHECK(open.answered == open.due);
  CHECK(open.first_token.quantile(0.9).value > 0.15);
  ServingLoad closed = short_load(0.0);
  closed.load.clients = 1;
  const ServingResult alone = result_of(server, closed);
  CHECK(alone.answered == alone.due);
  CHECK(alone.first_token.quantile(0.5).value < open.first_token.quantile(0.5).value);

  // The same when its client has too few connections: the client's own delay is seen.
  ServingLoad narrow = short_load(100.0);
  narrow.load.most_open = 1;
  const ServingResult waited = result_of({.first_token = {0.02}}, narrow);
  CHECK(waited.delayed > 0.0);
  CHECK(waited.send_delay.quantile(0.9).value > 0.05);
  CHECK(waited.first_token.quantile(0.9).value > 0.07);
}

TEST_CASE("a closed loop has as many requests under way as clients") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({.first_token = {0.05}});
  ServingClient client({.url = server.url()});
  ServingLoad load = short_load(0.0);
  load.load.clients = 7;
  const ServingResult result = run_load(client, load);
  CHECK(server.most_under_way() == 7);
  CHECK(result.answered == result.due);
  CHECK(result.open_s / load.load.duration.value > 4.0);
  CHECK(result.open_s / load.load.duration.value < 7.01);
}

TEST_CASE("what fails is counted, with the server's words, and has no latency") {
  if (!no_serving_client().empty()) return;
  const std::pair<ServerFault, const char*> faults[] = {
      {ServerFault::overloaded, "status 503: overloaded"},
      {ServerFault::broken_off, "partial file"},
      {ServerFault::garbage, "not JSON"},
      {ServerFault::error_event, "out of blocks"},
      {ServerFault::without_text, "without text"}};
  for (const auto& [fault, words] : faults) {
    const ServingResult result = faulty(fault);
    INFO(words);
    CHECK(result.failed > 0.3 * result.due);
    CHECK(result.failed < 0.7 * result.due);
    CHECK(result.answered + result.failed == result.due);
    CHECK(result.first_token.count() == result.answered);
    REQUIRE(result.problems.size() == 1);
    CHECK_THAT(result.problems.begin()->first, Contains(words));
    CHECK(std::isnan(result.quantile(result.first_token, 0.99).value));
    CHECK(result.quantile(result.first_token, 0.2).value > 0.0);
    CHECK_FALSE(result.holds());
  }
}

TEST_CASE("answers that end early or are not counted are noted, and no failures") {
  if (!no_serving_client().empty()) return;
  const ServingResult early = faulty(ServerFault::ends_early);
  CHECK(early.answered == early.due);
  CHECK(early.short_answers > 0.3 * early.due);
  CHECK(early.output_tokens < 6.0 * early.due);
  const ServingResult uncounted = faulty(ServerFault::without_count);
  CHECK(uncounted.uncounted == uncounted.due);
  CHECK(uncounted.output_tokens == 0.0);
}

TEST_CASE("requests without an end are cut off after the drain, and bounds do not hold") {
  if (!no_serving_client().empty()) return;
  ServingLoad load = short_load(50.0);
  load.load.drain = {0.2};
  const ServingResult result = result_of({.fault = ServerFault::silent, .fault_every = 3}, load);
  CHECK(result.unfinished > 0.0);
  CHECK(result.answered + result.unfinished == result.due);
  CHECK_FALSE(result.holds());
}

TEST_CASE("bounds hold for 99 of 100 requests or they do not") {
  ServingResult result{.due = 100.0, .first_in_bound = 99.0, .token_in_bound = 99.0};
  CHECK(result.holds());
  result.first_in_bound = 98.0;
  CHECK_FALSE(result.holds());
  result.first_in_bound = 100.0;
  result.token_in_bound = 98.0;
  CHECK_FALSE(result.holds());
  CHECK_FALSE(ServingResult().holds());
}

TEST_CASE("each bound is judged for itself") {
  if (!no_serving_client().empty()) return;
  const StandInSetting server{.first_token = {0.01}, .per_token = {0.004}};
  ServingLoad load = short_load(50.0);
  load.bounds = {{0.005}, {1.0}};
  const ServingResult late = result_of(server, load);
  CHECK(late.first_in_bound == 0.0);
  CHECK(late.token_in_bound == late.due);
  load.bounds = {{5.0}, {0.003}};
  const ServingResult slow = result_of(server, load);
  CHECK(slow.first_in_bound == slow.due);
  // Not none: tokens that a busy machine reads late arrive together, with short gaps.
  CHECK(slow.token_in_bound < 0.5 * slow.due);
  CHECK(slow.in_bounds == slow.token_in_bound);
  CHECK_FALSE(slow.holds());
}

TEST_CASE("requests that never left count as unfinished") {
  if (!no_serving_client().empty()) return;
  ServingLoad load = short_load(200.0);
  load.load.most_open = 2;
  load.load.drain = {0.1};
  const ServingResult result = result_of({.fault = ServerFault::silent}, load);
  CHECK(result.due > 50.0);
  CHECK(result.unfinished == result.due);
  CHECK(result.delayed >= result.due - 2.0);
}

TEST_CASE("a client whose request failed waits before the next one") {
  if (!no_serving_client().empty()) return;
  ServingLoad load = short_load(0.0);
  load.load.clients = 2;
  const ServingResult result = result_of({.fault = ServerFault::overloaded}, load);
  CHECK(result.failed == result.due);
  CHECK(result.due >= 2.0);
  CHECK(result.due <= 10.0);  // two clients, ten times a second
}

TEST_CASE("results of ranks add up, reasons too") {
  if (!no_serving_client().empty()) return;
  const StandInServer server({.fault = ServerFault::overloaded, .fault_every = 2});
  run_ranks(2, [&](Group& group) {
    ServingClient client({.url = server.url()});
    ServingResult own = run_load(client, short_load(60.0));
    const double due = own.due, failed = own.failed;
    const ServingResult all = over_ranks(group, std::move(own));
    CHECK(all.due == total(group, due));
    CHECK(all.first_token.count() == all.answered);
    if (group.rank() == 0)
      CHECK(all.problems.at("status 503: overloaded") == all.failed);
    else
      CHECK(all.problems.empty());
    CHECK(total(group, failed) == all.failed);
  });
}

TEST_CASE("answers that change under load are seen") {
  if (!no_serving_client().empty()) return;
  for (const bool changes : {false, true}) {
    const StandInServer server({.first_token = {0.02}, .changes_under_load = changes});
    ServingClient client({.url = server.url()});
    ServingLoad load = short_load(200.0);
    load.requests.checks = 1;
    load.requests.check_every = 4;
    load.known_answers = {read_answer(client.ask(check_request(load.requests, 0))).text};
    const ServingResult result = run_load(client, load);
    CHECK(result.checks > 5.0);
    if (changes)
      CHECK(result.changed > 0.5 * result.checks);
    else
      CHECK(result.changed == 0.0);
  }
}

TEST_CASE("a key is sent, and is in no message") {
  if (!no_serving_client().empty()) return;
  const StandInSetting server{.key = "sk-stand-in-1234"};
  const ServingResult result = result_of(server, short_load(50.0));
  CHECK(result.answered == result.due);
  ServingLoad load = short_load(50.0);
  load.secret = server.key;
  const StandInServer running(server);
  ServingClient client({.url = running.url(), .api_key = "sk-another-one"});
  const ServingResult refused = run_load(client, load);
  REQUIRE(refused.problems.size() == 1);
  CHECK(refused.problems.begin()->first == "status 401: Invalid key ...");
  // A key that is cut off is still a key.
  const std::string tail(190, 'x');
  const RawAnswer raw{.status = 401, .body = tail + server.key};
  CHECK(read_answer(raw, server.key).problem.find("sk-stand") == std::string::npos);
}

}  // namespace bench::serving
