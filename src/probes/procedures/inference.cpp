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

#include "core/error.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "devices/memory.h"
#include "inference/batcher.h"
#include "probes/inference/decode_work.h"
#include "probes/inference/load_series.h"
#include "probes/inference/trained_llm.h"
#include "probes/probe.h"
#include "probes/shared/memory_sizes.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"
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
  if (state.flag("trained")) {
    if (asked > 0 && asked != full.sequence)
      throw Error(ErrorKind::input,
                  fmt::format("context is {}, but a model of preset {} is trained on {} positions",
                              asked, preset, full.sequence),
                  "leave context at 0, or trained at false");
    return full;
  }
  return training::with_sequence(full, "llm " + preset,
                                 asked > 0 ? asked : std::min(full.sequence, kLongestContext));
}

/// In the order in which they are measured: quality is compared with that of f32.
std::vector<WeightType> weight_types(const State& state) {
  std::vector<WeightType> types;
  for (const auto& name : state.list<std::string>("weights"))
    types.push_back(inference::weight_type(name));
  std::ranges::stable_partition(types, [](WeightType type) { return type == WeightType::f32; });
  return types;
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
        loads_(state, shape_),
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
      trained_ = train_model(*training::make_workload("llm", state_.text("preset"), seed_), seed_,
                             kernels_, threads_, state_.group());
    kernels_.begin(false);
    for (const WeightType type : weight_types(state_)) measure(type);
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
    const auto prompts = state_.list<std::int64_t>("prompt_tokens");
    for (const auto tokens : prompts)
      if (tokens + 1 > shape_.sequence)
        throw Error(ErrorKind::input,
                    fmt::format("a prompt of {} tokens and one more do not fit into {} positions",
                                tokens, shape_.sequence),
                    "shorten prompt_tokens, or increase context");
    if (prompts.empty() && !state_.list<std::int64_t>("batches").empty())
      throw Error(ErrorKind::input,
                  "batches are decoded behind prompts, and prompt_tokens is empty",
                  "set prompt_tokens, or batches to []");
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
    if (loads_.any())
      blocks = std::max(blocks,
                        state_.integer("most_sequences") * SequenceBlocks(loads_.longest()).each());
    return std::max(blocks, SequenceBlocks(shape_.sequence).each());
  }

  void measure(WeightType type) {
    const Json params = params_of(type);
    const inference::CacheShape cache{shape_.layers, shape_.kv_heads, shape_.attention().head_dim};
    double need = static_cast<double>(inference::decoder_model_bytes(shape_, type) +
                                      cache_blocks() * cache.block_bytes() +
                                      inference::Decoder::bytes(shape_, type, pass_rows()));
    // While a matrix is packed, its values are there too; those of a trained model always are.
    need += 4.0 * static_cast<double>(
                      std::max<std::int64_t>(shape_.vocabulary, 2 * threads_ * shape_.hidden) *
                      shape_.width);
    if (trained_)
      need += static_cast<double>(inference::decoder_model_bytes(shape_, WeightType::f32));
    if (need > budget_)
      return state_.skip_series("decode_rate", params,
                                fmt::format("needs {} of memory, may use {}", format(Bytes{need}),
                                            format(Bytes{budget_})));
    Engine engine(
        inference::make_decoder_model(
            shape_, type,
            trained_ ? values_of(*trained_) : inference::initial_values(shape_, seed_), threads_),
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
    if (loads_.any())
      for (const auto& batching : state_.list<std::string>("batching"))
        loads_.measure(engine.decoder, engine.cache, inference::batching_named(batching), params);
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
    WorkWatch watch(state_.device(), state_.group(), Worker::threads);
    for (int i = 0; i < kSpeculationRounds; ++i) {
      watch.begin();
      const Answered plain = answer_texts(engine, 0), drafted = answer_texts(engine, draft);
      watch.end();
      gains.push_back(plain.time / drafted.time);
      counts = drafted.counts;
      for (std::size_t t = 0; t < plain.tokens.size(); ++t)
        different += plain.tokens[t] == drafted.tokens[t] ? 0.0 : 1.0;
    }
    const Conditions conditions = watch.finish();
    state_.under(conditions).values("speculative_gain", gains, params);
    const Check check{"answers equal to those without drafts", different, 0.0};
    state_.value("accepted_tokens",
                 1.0 + static_cast<double>(counts.accepted) / static_cast<double>(counts.decoded),
                 params, {}, check);
  }

  void write_facts() {
    Json facts = {{"kernels", loops_},
                  {"cache_dtype", "f32"},
                  {"context", shape_.sequence},
                  {"pass_tokens", pass_rows()}};
    Json warnings = loads_.warnings();
    if (trained_) trained_->describe(facts, warnings);
    facts["warnings"] = std::move(warnings);
    state_.facts("inference", facts);
  }

  State& state_;
  TrainingKernels& kernels_;
  training::LlmShape shape_;
  LoadSeries loads_;
  int threads_;
  std::uint64_t seed_;
  training::KernelFactory factory_;
  std::vector<CacheLevel> caches_ = {};
  double budget_ = 0.0;
  std::optional<TrainedModel> trained_ = {};
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
