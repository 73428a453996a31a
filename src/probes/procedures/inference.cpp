// A language model that answers requests on this machine: prompts and decoding by batch size and
// type of weights, quality and speculation of a trained model, and loads of requests.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "devices/memory.h"
#include "inference/batcher.h"
#include "probes/inference/decode_work.h"
#include "probes/inference/generation_load.h"
#include "probes/inference/trained_llm.h"
#include "probes/probe.h"
#include "probes/serving/rate_search.h"
#include "probes/shared/memory_sizes.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"
#include "probes/storage/load_result.h"
#include "probes/work_watch.h"
#include "training/workloads/llm.h"

namespace bench {
namespace {

using inference::Batching;
using inference::WeightType;

constexpr std::int64_t kLongestContext = 2048;  // without a parameter
constexpr double kGapTolerance = 0.001;         // nats
constexpr std::int64_t kSpeculationPrompts = 64;
constexpr int kSpeculationRounds = 5;

training::LlmShape shape_of(const State& state) {
  const std::string preset = state.text("preset");
  const training::LlmShape full = training::llm_preset(preset);
  const std::int64_t asked = state.integer("context");
  return training::with_sequence(full, "llm " + preset,
                                 asked > 0 ? asked : std::min(full.sequence, kLongestContext));
}

serving::TokenRange length_range(const State& state, const std::string& name) {
  const auto ends = state.list<int>(name);
  if (ends.at(0) > ends.at(1))
    throw Error(ErrorKind::input, fmt::format("{} is {} to {}", name, ends.at(0), ends.at(1)),
                "write the shortest first");
  return {ends.at(0), ends.at(1)};
}

/// A model with its cache and decoder.
struct Engine {
  Engine(inference::DecoderModel made, std::int64_t blocks, int threads, std::int64_t rows,
         const training::KernelFactory& kernels)
      : model(std::move(made)),
        cache({model.shape.layers, model.shape.kv_heads, model.shape.attention().head_dim}, blocks),
        decoder(model, cache, threads, rows, kernels) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  inference::DecoderModel model;
  inference::PagedCache cache;
  inference::Decoder decoder;
};

class InferenceProbe {
 public:
  InferenceProbe(State& state, TrainingKernels& kernels)
      : state_(state),
        kernels_(kernels),
        shape_(shape_of(state)),
        threads_(thread_count(state, static_cast<int>(state.integer("threads")))),
        seed_(state.job().seed),
        factory_([&kernels](Dtype dtype) { return kernels.make(dtype); }) {
    if (MemorySystem* memory = state.device().memory()) {
      caches_ = memory->caches();
      budget_ = memory_budget(state, *memory);
    }
  }

  void run() {
    check_lengths();
    if (state_.flag("trained"))
      trained_ = train_llm(state_.text("preset"), seed_, kernels_, threads_, state_.group());
    kernels_.begin(false);
    for (const auto& name : state_.list<std::string>("weights"))
      measure(inference::weight_type(name));
    write_facts();
  }

 private:
  /// Of every series.
  Json params_of(WeightType type) const {
    return {{"preset", state_.text("preset")},
            {"weights", to_string(type)},
            {"dtype", is_quantised(type) ? "int8" : "f32"},
            {"threads", threads_}};
  }

  void check_lengths() const {
    for (const auto tokens : state_.list<std::int64_t>("prompt_tokens"))
      if (tokens + 1 > shape_.sequence)
        throw Error(ErrorKind::input,
                    fmt::format("a prompt of {} tokens and one more do not fit into {} positions",
                                tokens, shape_.sequence),
                    "shorten prompt_tokens, or increase context");
    const auto prompt = length_range(state_, "load_prompt_tokens");
    const auto output = length_range(state_, "output_tokens");
    if (!state_.list<double>("load_shares").empty() && prompt.high + output.high > shape_.sequence)
      throw Error(ErrorKind::input,
                  fmt::format("prompts of {} and answers of {} tokens do not fit into {} positions",
                              prompt.high, output.high, shape_.sequence),
                  "shorten load_prompt_tokens or output_tokens, or increase context");
  }

  std::int64_t most_batch() const {
    std::int64_t most = 1;
    for (const auto batch : state_.list<std::int64_t>("batches")) most = std::max(most, batch);
    return most;
  }

  /// Rows of a pass: a token of each sequence at least, and those of drafts.
  std::int64_t pass_rows() const {
    std::int64_t most_draft = 0;
    for (const auto draft : state_.list<std::int64_t>("drafts"))
      most_draft = std::max(most_draft, draft);
    return std::max({state_.integer("pass_tokens"), most_batch(), state_.integer("most_sequences"),
                     most_draft + 1});
  }

  std::int64_t cache_blocks() const {
    std::int64_t longest = 0;
    for (const auto tokens : state_.list<std::int64_t>("prompt_tokens"))
      longest = std::max(longest, tokens + 1);
    std::int64_t blocks = most_batch() * SequenceBlocks(longest).each();
    if (!state_.list<double>("load_shares").empty()) {
      const std::int64_t whole = length_range(state_, "load_prompt_tokens").high +
                                 length_range(state_, "output_tokens").high;
      blocks = std::max(blocks, state_.integer("most_sequences") * SequenceBlocks(whole).each());
    }
    return std::max(blocks, SequenceBlocks(shape_.sequence).each());
  }

  void measure(WeightType type) {
    const Json params = params_of(type);
    const inference::CacheShape cache{shape_.layers, shape_.kv_heads, shape_.attention().head_dim};
    const double need =
        static_cast<double>(inference::decoder_model_bytes(shape_, type)) +
        static_cast<double>(cache_blocks() * cache.block_bytes()) +
        4.0 * static_cast<double>(shape_.vocabulary * shape_.width);  // while a matrix is packed
    if (need > budget_)
      return state_.skip_series("decode_rate", params,
                                fmt::format("needs {} of memory, may use {}", format(Bytes{need}),
                                            format(Bytes{budget_})));
    Engine engine(
        inference::make_decoder_model(
            shape_, type, trained_ ? trained_->values() : inference::initial_values(shape_, seed_)),
        cache_blocks(), threads_, pass_rows(), factory_);
    loops_ = inference::decoder_kernels().isa;
    state_.value("weights", static_cast<double>(engine.model.bytes()), params);
    state_.value("cache", DecodeWork::cache_bytes(engine.model, 1, 0), params);
    compare_with_training(engine, params, need);
    for (const auto tokens : state_.list<std::int64_t>("prompt_tokens")) {
      measure_prompt(engine, tokens, params);
      for (const auto batch : state_.list<std::int64_t>("batches"))
        measure_decoding(engine, batch, tokens, params);
    }
    if (trained_) measure_quality(engine, params);
    for (const auto draft : state_.list<std::int64_t>("drafts"))
      measure_speculation(engine, draft, params);
    if (!state_.list<double>("load_shares").empty())
      for (const auto& batching : state_.list<std::string>("batching"))
        measure_loads(engine, inference::batching_named(batching), params);
  }

  void compare_with_training(Engine& engine, const Json& params, double used) {
    const double need = used + bytes_for_distance(shape_);
    if (need > budget_)
      return state_.skip_series(
          "log_probability_error", params,
          fmt::format("the comparison with training needs {} of memory, may use {}",
                      format(Bytes{need}), format(Bytes{budget_})));
    const Check check = distance_from_training(engine.decoder, factory_, seed_);
    state_.value("log_probability_error", check.error, params, {}, check);
  }

  void measure_prompt(Engine& engine, std::int64_t tokens, Json params) {
    PromptWork work(engine.decoder, tokens, seed_);
    params["tokens"] = tokens;
    const double flops = static_cast<double>(tokens) *
                             (engine.model.flops_per_row() -
                              2.0 * static_cast<double>(shape_.width * shape_.vocabulary)) +
                         2.0 * static_cast<double>(shape_.width * shape_.vocabulary);
    std::optional<Limit> limit = state_.known_limit("throughput", params);
    if (limit) limit->value *= static_cast<double>(tokens) / flops;
    Measurement m;
    m.params = params;
    m.work = [&](std::int64_t calls) { work.run(calls); };
    m.reports = {{"prompt_rate", static_cast<double>(tokens), limit}, {"throughput", flops}};
    m.verify = [&] { return work.check(); };
    m.threads = threads_;
    state_.measure(m);
  }

  void measure_decoding(Engine& engine, std::int64_t batch, std::int64_t tokens, Json params) {
    DecodeWork work(engine.decoder, batch, tokens, seed_);
    const double bytes = static_cast<double>(engine.model.pass_bytes()) +
                         DecodeWork::cache_bytes(engine.model, batch, tokens);
    params["batch"] = batch;
    params["tokens"] = tokens;
    params["level"] = memory_level(caches_, bytes, threads_);
    const double each = static_cast<double>(batch);
    std::optional<Limit> limit = state_.known_limit("traffic", params);
    if (limit) limit->value *= each / bytes;
    Measurement m;
    m.params = params;
    m.work = [&](std::int64_t calls) { work.run(calls); };
    m.reports = {{"decode_rate", each, limit}, {"token_time"}, {"traffic", bytes}};
    m.verify = [&] { return work.check(); };
    m.threads = threads_;
    state_.measure(m);
  }

  /// On the text of the training's own evaluation, which f32 weights must repeat.
  void measure_quality(Engine& engine, const Json& params) {
    const auto language = language_of(shape_, seed_);
    const std::vector<int> blocks = SequenceBlocks(shape_.sequence).of(0);
    const double gap =
        quality_of(engine.decoder, blocks, *language, trained_->evaluated, state_.group()).gap;
    std::optional<Check> check;
    if (engine.model.type == WeightType::f32)
      check = Check{"gap of the training's last evaluation", std::fabs(gap - trained_->gap),
                    kGapTolerance};
    state_.value("gap", gap, params, {}, check);
    if (engine.model.type == WeightType::f32)
      wide_gap_ = gap;
    else if (wide_gap_)
      state_.value("gap_increase", gap - *wide_gap_, params);
  }

  struct Answered {
    Seconds time;
    std::vector<std::vector<std::int32_t>> tokens;
    inference::Batcher::Counts counts;
  };

  /// The second half of evaluation texts, given the first, one after another.
  Answered answer_texts(Engine& engine, std::int64_t drafted) {
    const auto language = language_of(shape_, seed_);
    inference::Batcher batcher(engine.decoder, engine.cache,
                               {.most_sequences = 1, .reuse_prefixes = false, .drafted = drafted});
    std::vector<std::int32_t> text(static_cast<std::size_t>(shape_.sequence + 1));
    const auto half = static_cast<std::ptrdiff_t>(shape_.sequence / 2);
    Answered answered;
    answered.tokens.resize(kSpeculationPrompts);
    for (std::uint64_t i = 0; i < kSpeculationPrompts; ++i) {
      language->read(training::Split::evaluation, i, {text});
      batcher.submit({i, {text.begin(), text.begin() + half}, shape_.sequence - half});
    }
    const Seconds begin = steady_now();
    while (!batcher.idle())
      for (const inference::TextProgress& progress : batcher.step()) {
        auto& tokens = answered.tokens[progress.id];
        tokens.insert(tokens.end(), progress.tokens.begin(), progress.tokens.end());
      }
    answered.time = steady_now() - begin;
    answered.counts = batcher.counts();
    return answered;
  }

  void measure_speculation(Engine& engine, std::int64_t draft, Json params) {
    params["draft"] = draft;
    if (!trained_)
      return state_.skip_series("speculative_gain", params,
                                "a random model repeats itself; set trained");
    std::vector<double> gains;
    double different = 0.0;
    inference::Batcher::Counts counts;
    const Conditions conditions = watched(state_.device(), state_.group(), Worker::threads, [&] {
      for (int i = 0; i < kSpeculationRounds; ++i) {
        const Answered plain = answer_texts(engine, 0), drafted = answer_texts(engine, draft);
        gains.push_back(plain.time / drafted.time);
        counts = drafted.counts;
        for (std::size_t t = 0; t < plain.tokens.size(); ++t)
          different += plain.tokens[t] == drafted.tokens[t] ? 0.0 : 1.0;
      }
    });
    const Check check{"answers equal to those without drafts", different, 0.0};
    state_.under(conditions).value("speculative_gain", median(gains), params, {}, check);
    state_.value("accepted_tokens",
                 1.0 + static_cast<double>(counts.accepted) / static_cast<double>(counts.decoded),
                 params);
  }

  GenerationLoad load_setting() const {
    GenerationLoad load;
    load.ramp = {state_.number("ramp_s")};
    load.duration = {state_.number("seconds")};
    load.drain = {state_.number("drain_s")};
    load.prompt = length_range(state_, "load_prompt_tokens");
    load.output = length_range(state_, "output_tokens");
    load.shared_prefix = state_.integer("shared_prefix_tokens");
    load.vocabulary = shape_.vocabulary;
    load.waiting = 2 * state_.integer("most_sequences");
    load.seed = random_bits(seed_, 17);
    load.bounds = {{state_.number("first_token_bound_s")}, {state_.number("token_bound_s")}};
    load.slice = load.duration / storage::kSlices;
    return load;
  }

  /// Requests that are repeated under load, answered one after another.
  void know_answers(Engine& engine, GenerationLoad& load) const {
    inference::Batcher alone(engine.decoder, engine.cache,
                             {.most_sequences = 1, .reuse_prefixes = false});
    GenerationLoad other = load;
    other.seed = random_bits(seed_, 18);
    load.known_answers.resize(static_cast<std::size_t>(state_.integer("checks")));
    for (std::size_t i = 0; i < load.known_answers.size(); ++i) {
      load.known.push_back(generated_request(other, i));
      load.known.back().id = i;
      alone.submit(load.known.back());
    }
    while (!alone.idle())
      for (const inference::TextProgress& progress : alone.step()) {
        auto& tokens = load.known_answers[progress.id];
        tokens.insert(tokens.end(), progress.tokens.begin(), progress.tokens.end());
      }
  }

  void measure_loads(Engine& engine, Batching batching, Json params) {
    params["batching"] = to_string(batching);
    GenerationLoad load = load_setting();
    know_answers(engine, load);
    const auto measure_load = [&](double rate, const std::string& name) {
      load.rate = rate;
      Json of_load = params;
      of_load["load"] = name;
      inference::Batcher batcher(
          engine.decoder, engine.cache,
          {.batching = batching, .most_sequences = state_.integer("most_sequences")});
      GenerationResult result;
      const Conditions conditions = watched(state_.device(), state_.group(), Worker::threads, [&] {
        result = run_load(batcher, load, LoadClock::steady());
      });
      write(result, of_load, conditions, load);
      return result;
    };
    const GenerationResult offline = measure_load(0.0, "offline");
    double answers = 0.0;
    for (const double of_slice : offline.served.slice_answers) answers += of_slice;
    const double capacity = answers / load.duration.value;
    if (!(capacity > 0.0))
      return state_.skip_series("highest_rate", params,
                                "no request was answered in the time; increase seconds");
    const auto name_of = [&](double rate) { return fmt::format("{:.3g}", rate / capacity); };
    std::vector<double> rates;
    for (const double share : state_.list<double>("load_shares")) rates.push_back(share * capacity);
    const serving::RateFound found = serving::search_rates(
        rates, state_.integer("refinements"),
        {.measure = [&](double rate) -> std::optional<bool> {
           const GenerationResult result = measure_load(rate, name_of(rate));
           if (!(result.served.due > 0.0)) return {};
           return result.served.holds();
         },
         .skip =
             [&](double rate, double missed) {
               Json of_load = params;
               of_load["load"] = name_of(rate);
               state_.skip_series(
                   "token_rate", of_load,
                   fmt::format("{:.3g} requests/s missed the bounds already", missed));
             }});
    if (found.holds)
      state_.value("highest_rate", *found.holds, params);
    else
      state_.skip_series(
          "highest_rate", params,
          found.misses ? fmt::format("already {:.3g} requests/s missed the bounds", *found.misses)
                       : "no request was due at any rate; increase seconds");
  }

  void write(const GenerationResult& result, const Json& params, const Conditions& conditions,
             const GenerationLoad& load) {
    const serving::ServingResult& all = result.served;
    const auto series = state_.under(conditions);
    const auto per_second = [&](std::vector<double> amounts) {
      for (double& one : amounts) one /= load.slice.value;
      return amounts;
    };
    series.values("token_rate", per_second(all.slice_tokens), params);
    series.values("request_rate", per_second(all.slice_answers), params);
    if (load.rate > 0.0) {
      state_.value("offered_rate", load.rate, params);
      if (!(all.due > 0.0))
        return state_.skip_series("first_token_latency", params, "no request was due in the time");
      write_quantiles("first_token_latency", params, all, all.first_token, conditions);
      write_quantiles("time_per_token", params, all, all.per_token, conditions);
      write_quantiles("request_latency", params, all, all.request, conditions);
      series.value("in_bounds", all.in_bounds / all.due, params);
      series.value("unfinished_requests", all.unfinished, params);
    }
    write_quantiles("inter_token_latency", params, all, all.inter_token, conditions);
    series.value("requests_open", all.open_s / load.duration.value, params);
    const auto& counts = result.counts;
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

  void write_quantiles(const std::string& metric, Json params, const serving::ServingResult& all,
                       const storage::LatencyHistogram& latency, const Conditions& conditions) {
    const bool of_requests = &latency != &all.inter_token;
    const double count = of_requests ? all.due : latency.count();
    for (const auto& [name, share, least] : serving::kLatencyQuantiles) {
      if (count < least || !(latency.count() > 0.0)) continue;
      params["quantile"] = name;
      const Seconds value = of_requests ? all.quantile(latency, share) : latency.quantile(share);
      if (value.value == value.value)
        state_.under(conditions).value(metric, value.value, params);
      else
        state_.skip_series(
            metric, params,
            fmt::format("{:g} of {:g} requests have no answer", all.unfinished, all.due));
    }
  }

  void write_facts() {
    Json facts = {{"kernels", loops_}, {"cache_dtype", "f32"}, {"context", shape_.sequence}};
    if (trained_)
      facts.update({{"trained_steps", trained_->steps}, {"trained_gap", trained_->gap}});
    state_.facts("inference", facts);
  }

  State& state_;
  TrainingKernels& kernels_;
  training::LlmShape shape_;
  int threads_;
  std::uint64_t seed_;
  training::KernelFactory factory_;
  std::vector<CacheLevel> caches_ = {};
  double budget_ = 0.0;
  std::optional<TrainedLlm> trained_ = {};
  std::optional<double> wide_gap_ = {};
  std::string loops_ = {};
};

void run_inference(State& state) {
  TrainingKernels* kernels = state.device().training_kernels();
  if (kernels == nullptr) return state.skip("this device has no training kernels");
  if (state.group().size() > 1) return state.skip("the engine runs on one rank; set ranks to 1");
  InferenceProbe(state, *kernels).run();
}

const Registration inference_probe{"inference", run_inference};

}  // namespace
}  // namespace bench
