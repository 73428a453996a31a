// A server of a language model under load: closed loops of clients, then an open loop at rising
// rates until the bounds on latency are missed, and the highest rate within them.
//
// Values are not judged by how busy this host was: the server may be on it. What that does to the
// load is measured (send_delay) and warned of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "core/elements.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "probes/probe.h"
#include "probes/serving/answer.h"
#include "probes/serving/rate_search.h"
#include "probes/serving/request_maker.h"
#include "probes/serving/serving_client.h"
#include "probes/serving/serving_load.h"
#include "probes/state.h"
#include "probes/storage/load_result.h"
#include "probes/storage/work_folder.h"

namespace bench {
namespace {

using namespace serving;

constexpr int kFewWords = 20, kManyWords = 220;  // of the prompts that find tokens per word
constexpr int kRankBits = 48, kLoadBits = 32;    // of the numbers of requests
constexpr double kLateShare = 0.05;              // of the first token's latency
constexpr double kBusyClient = 0.8;              // of a core
constexpr double kMostShort = 0.01;              // of answers
constexpr double kLeastPerSlice = 10.0;          // answers; else one rate for the whole time

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::string server_url(std::string url) {
  if (url.empty()) url = environment_variable("OPENAI_BASE_URL");
  if (url.empty())
    throw Error(ErrorKind::input, "no server is named",
                "set 'url' to http://HOST:PORT/v1, or OPENAI_BASE_URL for the ranks");
  const bool plain =
      std::ranges::all_of(url, [](char c) { return c > ' ' && c < '\x7f' && c != '@'; });
  if (!plain || !(url.starts_with("http://") || url.starts_with("https://")))
    throw Error(ErrorKind::input, "'" + printable(url) + "' is not the URL of a server",
                "write it as http://HOST:PORT/v1; a key goes to OPENAI_API_KEY");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

TokenRange token_range(const State& state, const std::string& name) {
  const auto ends = state.list<int>(name);
  if (ends.at(0) > ends.at(1))
    throw Error(ErrorKind::input, fmt::format("{} is {} to {}", name, ends.at(0), ends.at(1)),
                "write the shortest first");
  return {ends.at(0), ends.at(1)};
}

class ServingProbe {
 public:
  explicit ServingProbe(State& state) : state_(state) {}

  void run() try {
    const std::string obstacle = agreed(state_.group(), no_serving_client());
    if (!obstacle.empty()) return state_.skip(obstacle);
    together(state_.group(), [&] { prepare(); });
    meet_server();
    for (const int clients : state_.list<int>("clients"))
      measure({.rate = 0.0, .clients = clients}, {{"clients", clients}});
    search_highest_rate();
    write_facts();
  } catch (const Error& error) {
    std::string text = error.text();
    hide(text, server_.api_key);
    state_.conclude(Status::failed, text);
  }

 private:
  void prepare() {
    server_ = {.url = server_url(state_.text("url")),
               .api_key = environment_variable("OPENAI_API_KEY"),
               .ca_file = state_.text("ca_file"),
               .chat = state_.text("interface") == "chat",
               .stall = {state_.number("stall_s")}};
    requests_ = {.model = state_.text("model"),
                 .chat = server_.chat,
                 .prompt = token_range(state_, "prompt_tokens"),
                 .output = token_range(state_, "output_tokens"),
                 .shared_prefix_tokens = static_cast<int>(state_.integer("shared_prefix_tokens")),
                 .ignore_eos = state_.flag("ignore_eos"),
                 .seed = state_.job().seed,
                 .salt = random_bits(state_.job().seed, std::hash<std::string>()(token_)),
                 .checks = static_cast<int>(state_.integer("checks"))};
    if (!std::ranges::all_of(server_.api_key, [](char c) { return c > ' ' && c < '\x7f'; }))
      throw Error(ErrorKind::input, "OPENAI_API_KEY holds a character that no key has",
                  "remove blanks and ends of lines");
    client_ = std::make_unique<ServingClient>(server_);
  }

  /// Rank 0 asks for the model, for tokens per word and for known answers; all ranks learn them.
  void meet_server() {
    Json learned;
    together(state_.group(), [&] {
      if (state_.group().rank() == 0) learned = learn();
    });
    learned = parse_json(broadcast_text(state_.group(), dump(learned)), "what rank 0 learned");
    requests_.model = learned.at("model");
    requests_.word_tokens = {learned.at("per_word"), learned.at("extra")};
    counted_ = learned.at("counted");
    known_answers_ = learned.at("answers").get<std::vector<std::string>>();
    repeatable_ = learned.at("repeatable");
    requests_.checks = static_cast<int>(known_answers_.size());
  }

  Json learn() {
    if (requests_.model.empty()) requests_.model = first_model();
    Json learned = {{"model", requests_.model}, {"per_word", 1.0}, {"extra", 0.0}};
    const double few = good(trial_request(requests_, kFewWords)).prompt_tokens;
    const double many = good(trial_request(requests_, kManyWords)).prompt_tokens;
    const double per_word = (many - few) / (kManyWords - kFewWords);
    learned["counted"] = per_word > 0.0;
    if (per_word > 0.0) {
      learned["per_word"] = per_word;
      learned["extra"] = few - per_word * kFewWords;
    }
    std::vector<std::string> answers;
    bool repeatable = true;
    for (int check = 0; check < requests_.checks; ++check) {
      answers.push_back(good(check_request(requests_, check)).text);
      repeatable = repeatable && good(check_request(requests_, check)).text == answers.back();
    }
    if (!repeatable) answers.clear();
    learned["repeatable"] = repeatable;
    learned["answers"] = answers;
    return learned;
  }

  std::string first_model() {
    const RawAnswer raw = client_->get("/models");
    const auto body = try_parse_json(raw.body);
    if (raw.status / 100 == 2 && body && body->is_object() && body->contains("data"))
      for (const Json& one : body->at("data"))
        if (one.is_object() && one.contains("id") && one.at("id").is_string()) return one.at("id");
    throw Error(ErrorKind::environment,
                fmt::format("GET {}/models: {}", server_.url,
                            !raw.problem.empty() ? raw.problem + " (" + raw.detail + ")"
                                                 : fmt::format("status {}, no model", raw.status)),
                "check 'url', which ends with /v1 on most servers, or set 'model'");
  }

  /// The answer to a request that must succeed.
  Answer good(const PlannedRequest& request) {
    const RawAnswer raw = client_->ask(request);
    Answer answer = read_answer(raw, server_.api_key);
    if (!raw.detail.empty()) answer.problem += " (" + raw.detail + ")";
    if (answer.problem.empty()) return answer;
    std::string hint = "look at the server's log";
    if (answer.problem.starts_with("status 401") || answer.problem.starts_with("status 403"))
      hint = "set OPENAI_API_KEY for the ranks";
    else if (answer.problem.starts_with("status 404"))
      hint = "check 'url', which ends with /v1 on most servers, and 'model'";
    else if (answer.problem.starts_with("status 4"))
      hint = "try ignore_eos false, or another interface";
    throw Error(ErrorKind::environment,
                fmt::format("the first request to {}: {}", server_.url, answer.problem), hint);
  }

  void search_highest_rate() {
    const auto rates = state_.list<double>("rates");
    if (rates.empty()) return;
    const RateFound found = search_rates(
        rates, state_.integer("refinements"),
        {.measure = [&](double rate) -> std::optional<bool> {
           const ServingResult result = measure_rate(rate);
           if (!(result.due > 0.0)) return {};
           return result.holds();
         },
         .skip =
             [&](double rate, double missed) {
               state_.skip_series("token_rate", rate_params(rate),
                                  fmt::format("{:g} requests/s missed the bounds already", missed));
             }});
    if (found.holds)
      state_.value("highest_rate", *found.holds, shared_params());
    else
      state_.skip_series(
          "highest_rate", shared_params(),
          found.misses ? fmt::format("already {:g} requests/s missed the bounds", *found.misses)
                       : "no request was due at any rate; increase seconds");
    if (found.highest_held)
      warnings_.push_back(fmt::format(
          "rates: {:g} requests/s, the highest rate, was within the bounds; try higher ones",
          *found.holds));
  }

  Json shared_params() const {
    return {{"server", server_.url},
            {"model", requests_.model},
            {"prompt_tokens", state_.param("prompt_tokens")},
            {"output_tokens", state_.param("output_tokens")}};
  }
  Json rate_params(double rate) const {
    Json params = shared_params();
    params["rate"] = rate;
    return params;
  }

  ServingResult measure_rate(double rate) {
    return measure({.rate = rate / state_.group().size()}, {{"rate", rate}});
  }

  /// What a server works on, although nobody waits for it any more, would delay the next load.
  void wait_for_server() {
    together(state_.group(), [&] {
      if (state_.group().rank() == 0) client_->ask(trial_request(requests_, kFewWords));
    });
  }

  LatencyBounds bounds() const {
    return {{state_.number("first_token_bound_s")}, {state_.number("token_bound_s")}};
  }

  ServingResult measure(LoadSetting load, const Json& which) {
    Group& group = state_.group();
    const auto rank = static_cast<std::uint64_t>(group.rank());
    load.ramp = {state_.number("ramp_s")};
    load.duration = {state_.number("seconds")};
    load.drain = {state_.number("drain_s")};
    load.most_open = static_cast<int>(state_.integer("most_open"));
    load.seed = random_bits(state_.job().seed * 4099 + rank, loads_++);
    load.first_number = rank << kRankBits | loads_ << kLoadBits;
    const ServingLoad what{.load = load,
                           .requests = requests_,
                           .bounds = bounds(),
                           .known_answers = known_answers_,
                           .secret = server_.api_key,
                           .slice = load.duration / storage::kSlices};
    ServingResult own;
    group.barrier();
    together(group, [&] { own = run_load(*client_, what); });
    ServingResult all = over_ranks(group, std::move(own));
    Json params = shared_params();
    params.update(which);
    write(all, params, what.slice);
    for (const auto& [problem, count] : all.problems) problems_[problem] += count;
    if (all.unfinished > 0.0) wait_for_server();
    warn(all, fmt::format("{} {}", which.begin().key(), dump(which.begin().value())));
    return all;
  }

  void write(const ServingResult& all, const Json& params, Seconds slice) {
    const std::string over = state_.group().size() > 1 ? "sum" : "rank";
    const double seconds = state_.number("seconds");
    const bool steady = sum_of(all.slice_answers) >= kLeastPerSlice * storage::kSlices;
    const auto rates = [&](std::vector<double> amounts) {
      if (!steady) return std::vector<double>{sum_of(amounts) / seconds};
      for (double& one : amounts) one /= slice.value;
      return amounts;
    };
    state_.values("token_rate", rates(all.slice_tokens), params, over);
    state_.values("request_rate", rates(all.slice_answers), params, over);
    if (!(all.due > 0.0)) {
      state_.skip_series("first_token_latency", params, "no request was due in the time");
      return;
    }
    write_quantiles("first_token_latency", params, all, all.first_token);
    write_quantiles("inter_token_latency", params, all, all.inter_token);
    write_quantiles("time_per_token", params, all, all.per_token);
    write_quantiles("request_latency", params, all, all.request);
    write_quantiles("send_delay", params, all, all.send_delay);
    state_.value("in_bounds", all.in_bounds / all.due, params);
    state_.value("requests_open", all.open_s / seconds, params);
    state_.value("failed_requests", all.failed + all.unfinished, params);
    if (all.checks > 0.0) state_.value("changed_answers", all.changed / all.checks, params);
  }

  void write_quantiles(const std::string& metric, Json params, const ServingResult& all,
                       const storage::LatencyHistogram& latency) {
    for (const auto& [quantile, value] : all.quantiles(latency, all.due)) {
      params["quantile"] = quantile;
      if (std::isnan(value.value))
        state_.skip_series(metric, params,
                           fmt::format("{:g} of {:g} requests have no answer",
                                       all.failed + all.unfinished, all.due));
      else
        state_.value(metric, value.value, params);
    }
  }

  void warn(const ServingResult& all, const std::string& where) {
    const auto add = [&](const std::string& text) { warnings_.push_back(where + ": " + text); };
    const double first = all.first_token.quantile(0.5).value;
    const double delay = all.send_delay.quantile(0.99).value;
    if (all.unfinished > 0.0)
      add(
          fmt::format("{:g} of {:g} requests had no answer {:g} s after the time; the server does "
                      "not keep up, or increase drain_s",
                      all.unfinished, all.due, state_.number("drain_s")));
    if (all.failed > 0.0) add(fmt::format("{:g} of {:g} requests failed", all.failed, all.due));
    if (all.delayed > 0.0)
      add(fmt::format("{:g} requests waited for one of {} connections; increase most_open",
                      all.delayed, state_.integer("most_open")));
    if (delay > kLateShare * first)
      add(
          fmt::format("requests were sent {} late (p99), and the first token took {} (median): the "
                      "load is not exact; use more ranks or hosts",
                      format(Seconds{delay}), format(Seconds{first})));
    if (all.cpu_s > kBusyClient * state_.number("seconds"))
      add("the client used its core nearly all the time; use more ranks or hosts");
    if (all.short_answers > kMostShort * all.answered)
      add(fmt::format("{:g} of {:g} answers ended before the wanted number of tokens",
                      all.short_answers, all.answered));
    if (all.uncounted > 0.0)
      add("the server does not count tokens; parts of answers were counted instead");
    if (all.answered > all.uncounted)
      lengths_[where] = {{"prompt", all.prompt_tokens / (all.answered - all.uncounted)},
                         {"output", all.output_tokens / (all.answered - all.uncounted)}};
  }

  void write_facts() {
    Json warnings = warnings_;
    if (!counted_)
      warnings.push_back(
          "prompt_tokens: the server does not count tokens; each word was taken for one");
    if (!repeatable_)
      warnings.push_back(
          "checks: the server answers the same request differently without load; whether load "
          "changes answers was not checked");
    for (const auto& [problem, count] : problems_)
      warnings.push_back(fmt::format("failed {:g} times: {}", count, problem));
    state_.facts("serving", {{"server", server_.url},
                             {"model", requests_.model},
                             {"interface", state_.text("interface")},
                             {"tokens_per_word", requests_.word_tokens.per_word},
                             {"extra_prompt_tokens", requests_.word_tokens.extra},
                             {"mean_tokens", lengths_},
                             {"ranks", state_.group().size()},
                             {"warnings", std::move(warnings)}});
  }

  State& state_;
  std::string token_ = storage::job_token(state_.group());
  ServerSetting server_ = {};
  RequestSetting requests_ = {};
  std::unique_ptr<ServingClient> client_ = {};
  std::vector<std::string> known_answers_ = {};
  bool counted_ = true, repeatable_ = true;
  std::uint64_t loads_ = 0;
  std::vector<std::string> warnings_ = {};
  std::map<std::string, double> problems_ = {};
  Json lengths_ = Json::object();
};

void run_serving(State& state) { ServingProbe(state).run(); }

const Registration serving_probe{"serving", run_serving};

}  // namespace
}  // namespace bench
