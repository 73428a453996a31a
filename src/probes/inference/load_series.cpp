#include "probes/inference/load_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "probes/serving/rate_search.h"
#include "probes/storage/load_result.h"
#include "probes/work_watch.h"

namespace bench {
namespace {

constexpr std::uint64_t kFirstKnown = std::uint64_t{1} << 32;  // no load has so many requests

std::string share_name(double share) { return fmt::format("{:g}", share); }

}  // namespace

serving::TokenRange length_range(const State& state, const std::string& name) {
  const auto ends = state.list<int>(name);
  if (ends.at(0) > ends.at(1))
    throw Error(ErrorKind::input, fmt::format("{} is {} to {}", name, ends.at(0), ends.at(1)),
                "write the shortest first");
  return {ends.at(0), ends.at(1)};
}

LoadSeries::LoadSeries(State& state, const training::LlmShape& shape)
    : state_(state),
      shares_(state.list<double>("load_shares")),
      most_sequences_(state.integer("most_sequences")) {
  load_.prompt = length_range(state, "load_prompt_tokens");
  load_.output = length_range(state, "output_tokens");
  load_.shared_prefix = state.integer("shared_prefix_tokens");
  if (any() && longest() > shape.sequence)
    throw Error(ErrorKind::input,
                fmt::format("prompts of {} and answers of {} tokens do not fit into {} positions",
                            load_.prompt.high, load_.output.high, shape.sequence),
                "shorten load_prompt_tokens or output_tokens, or increase context");
  if (any() && load_.shared_prefix >= load_.prompt.low)
    throw Error(ErrorKind::input,
                fmt::format("prompts of {} tokens and more cannot share their first {}",
                            load_.prompt.low, load_.shared_prefix),
                "a prompt needs a token of its own: lower shared_prefix_tokens, or increase "
                "load_prompt_tokens");
  load_.ramp = {state.number("ramp_s")};
  load_.duration = {state.number("seconds")};
  load_.drain = {state.number("drain_s")};
  load_.vocabulary = shape.vocabulary;
  load_.waiting = 2 * most_sequences_;
  load_.seed = random_bits(state.job().seed, 17);
  load_.bounds = {{state.number("first_token_bound_s")}, {state.number("token_bound_s")}};
  load_.slice = load_.duration / storage::kSlices;
}

void LoadSeries::measure(inference::Decoder& decoder, inference::PagedCache& cache,
                         inference::Batching batching, Json params) {
  params["batching"] = to_string(batching);
  know_answers(decoder, cache);
  const auto of_load = [&](const std::string& name) {
    Json of = params;
    of["load"] = name;
    return of;
  };
  const GenerationResult offline = measure_load(decoder, cache, batching, 0.0, of_load("offline"));
  // By tokens: answers end in bursts under static batching.
  const auto& tokens = offline.served.slice_tokens;
  const double mean_answer = 0.5 * (load_.output.low + load_.output.high);
  const double capacity =
      std::accumulate(tokens.begin(), tokens.end(), 0.0) / load_.duration.value / mean_answer;
  if (!(capacity > 0.0))
    return state_.skip_series("highest_rate", params,
                              "no request was answered in the time; increase seconds");
  const serving::RateFound found = serving::search_rates(
      shares_, state_.integer("refinements"),
      {.measure = [&](double share) -> std::optional<bool> {
         const GenerationResult result =
             measure_load(decoder, cache, batching, share * capacity, of_load(share_name(share)));
         if (!(result.served.due > 0.0)) return {};
         return result.served.holds();
       },
       .skip =
           [&](double share, double missed) {
             state_.skip_series("token_rate", of_load(share_name(share)),
                                fmt::format("a share of {:g} missed the bounds already", missed));
           }});
  if (found.holds)
    state_.value("highest_rate", *found.holds * capacity, params);
  else
    state_.skip_series("highest_rate", params,
                       found.misses
                           ? fmt::format("already a share of {:g} missed the bounds", *found.misses)
                           : "no request was due at any rate; increase seconds");
  if (found.highest_held)
    warnings_.push_back(fmt::format(
        "{} batching: a share of {:g}, the highest, was within the bounds; try higher ones",
        to_string(batching), *found.holds));
}

/// Requests that are repeated under load, answered one after another.
void LoadSeries::know_answers(inference::Decoder& decoder, inference::PagedCache& cache) {
  inference::Batcher alone(decoder, cache, {.most_sequences = 1, .reuse_prefixes = false});
  load_.known.clear();
  load_.known_answers.assign(static_cast<std::size_t>(state_.integer("checks")), {});
  for (std::size_t i = 0; i < load_.known_answers.size(); ++i) {
    load_.known.push_back(generated_request(load_, kFirstKnown + i));
    load_.known.back().id = i;
    load_.known.back().keep = false;  // repeated prompts would be taken from the cache
    alone.submit(load_.known.back());
  }
  while (!alone.idle())
    for (const inference::TextProgress& progress : alone.step()) {
      auto& tokens = load_.known_answers[progress.id];
      tokens.insert(tokens.end(), progress.tokens.begin(), progress.tokens.end());
    }
}

GenerationResult LoadSeries::measure_load(inference::Decoder& decoder, inference::PagedCache& cache,
                                          inference::Batching batching, double rate,
                                          const Json& params) {
  load_.rate = rate;
  inference::Batcher batcher(decoder, cache,
                             {.batching = batching, .most_sequences = most_sequences_});
  GenerationResult result;
  const Conditions conditions = watched(state_.device(), state_.group(), Worker::threads, [&] {
    result = run_load(batcher, load_, LoadClock::steady());
  });
  write(result, params, conditions);
  return result;
}

void LoadSeries::write(const GenerationResult& result, const Json& params,
                       const Conditions& conditions) {
  const serving::ServingResult& all = result.served;
  const auto series = state_.under(conditions);
  const auto per_second = [&](std::vector<double> amounts) {
    for (double& one : amounts) one /= load_.slice.value;
    return amounts;
  };
  series.values("token_rate", per_second(all.slice_tokens), params);
  series.values("request_rate", per_second(all.slice_answers), params);
  write_quantiles("inter_token_latency", params, all, all.inter_token, conditions);
  series.value("requests_open", all.open_s / load_.duration.value, params);
  if (load_.rate > 0.0) {
    state_.value("offered_rate", load_.rate, params);
    if (!(all.due > 0.0))
      return state_.skip_series("first_token_latency", params, "no request was due in the time");
    write_quantiles("first_token_latency", params, all, all.first_token, conditions);
    write_quantiles("time_per_token", params, all, all.per_token, conditions);
    write_quantiles("request_latency", params, all, all.request, conditions);
    series.value("in_bounds", all.in_bounds / all.due, params);
    series.value("unfinished_requests", all.unfinished, params);
  }
  const inference::Batcher::Counts& counts = result.counts;
  if (counts.passes > 0)
    series.value("mean_batch",
                 static_cast<double>(counts.sequences) / static_cast<double>(counts.passes),
                 params);
  if (counts.prompt_tokens > 0)
    series.value(
        "reused_share",
        static_cast<double>(counts.reused_tokens) / static_cast<double>(counts.prompt_tokens),
        params);
  if (all.checks > 0.0)
    state_.value("changed_answers", all.changed / all.checks, params, {},
                 Check{"answers equal to those of each request alone", all.changed, 0.0});
}

void LoadSeries::write_quantiles(const std::string& metric, Json params,
                                 const serving::ServingResult& all,
                                 const storage::LatencyHistogram& latency,
                                 const Conditions& conditions) {
  const double behind = &latency == &all.inter_token ? latency.count() : all.due;
  for (const auto& [quantile, value] : all.quantiles(latency, behind)) {
    params["quantile"] = quantile;
    if (std::isnan(value.value))
      state_.skip_series(
          metric, params,
          fmt::format("{:g} of {:g} requests have no answer", all.unfinished, all.due));
    else
      state_.under(conditions).value(metric, value.value, params);
  }
}

}  // namespace bench
