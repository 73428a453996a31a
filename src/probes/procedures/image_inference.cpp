// A model that answers questions about images on this machine, in the scenarios of MLPerf
// Inference: one query after another, eight at once, at random times, and all at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "devices/memory.h"
#include "probes/image_inference/caption_quality.h"
#include "probes/image_inference/early_stopping.h"
#include "probes/image_inference/image_model.h"
#include "probes/image_inference/scenarios.h"
#include "probes/inference/trained_model.h"
#include "probes/probe.h"
#include "probes/serving/rate_search.h"
#include "probes/shared/memory_sizes.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"
#include "probes/work_watch.h"

namespace bench {
namespace {

constexpr double kSingleStreamShare = 0.9, kMultiStreamShare = 0.99;  // MLPerf's percentiles
constexpr std::int64_t kComparedSteps = 2;                            // with f64, of an image's
constexpr double kNarrowTolerance = 1e-4;     // of f32, relative to the size of all numbers
constexpr double kDefaultBoundFactor = 10.0;  // x the latency alone, where MLPerf sets no bound
constexpr double kFewestBounds = 3.0;         // in the time of a load
constexpr double kGapTolerance = 1e-6;        // the same samples and weights as in training
constexpr double kImageTolerance = 1.0;  // variances; images for other captions are at 2 and more
constexpr const char* kSameAnswers = "answers equal to those of each sample alone";

std::string preset_of(const State& state) {
  if (const std::string preset = state.text("preset"); !preset.empty()) return preset;
  return state.text("workload") == "image" ? "resnet50" : "tiny";
}

/// MLPerf Inference's for ResNet-50, RetinaNet and SDXL in Server, up to round 5.1.
std::optional<Seconds> official_bound(const std::string& preset) {
  if (preset == "resnet50") return Seconds{0.015};
  if (preset == "retinanet") return Seconds{0.1};
  if (preset == "flux") return Seconds{20.0};
  return {};
}

/// Differences from other numbers, relative to the size of those; NaN if any is not a number.
double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return kNoValue;
  double off = 0.0, size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    off += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(off / size);
}

class ImageInferenceProbe {
 public:
  ImageInferenceProbe(State& state, TrainingKernels& kernels)
      : state_(state),
        kernels_(kernels),
        workload_(
            training::make_workload(state.text("workload"), preset_of(state), state.job().seed)),
        threads_(thread_count(state, static_cast<int>(state.integer("threads")))),
        limits_{.time = {state.number("seconds")},
                .longest = {std::max(state.number("longest_s"), state.number("seconds"))},
                .samples = state.integer("samples"),
                .seed = state.job().seed},
        model_(*workload_, state.integer("steps"), Dtype::f32),
        factory_([&kernels](Dtype dtype) { return kernels.make(dtype); }) {
    if (MemorySystem* memory = state.device().memory()) budget_ = memory_budget(state, *memory);
    params_ = {{"workload", workload_->name()},
               {"preset", workload_->preset()},
               {"dtype", "f32"},
               {"threads", threads_}};
    if (workload_->name() == "flow") params_["steps"] = model_.steps();
    if (state.flag("trained")) params_["trained"] = true;  // a detector then finds objects
  }

  void run() {
    const double need = needed_bytes();
    if (need > budget_)
      return state_.skip_series("image_rate", params_,
                                fmt::format("needs {} of memory, may use {}", format(Bytes{need}),
                                            format(Bytes{budget_})));
    if (state_.flag("trained")) {
      trained_ = train_model(*workload_, state_.job().seed, kernels_, threads_, state_.group());
      model_.set_parameters(trained_->parameters);
    } else {
      model_.draw_weights(state_.job().seed);
    }
    kernels_.begin(false);
    pool_ = std::make_unique<training::WorkerPool>(threads_);
    lanes_ = make_lanes(1);
    state_.value("weights", static_cast<double>(model_.bytes()), params_);
    record_reference_answers();
    compare_with_f64();
    if (trained_) measure_quality();
    const double rate = measure_offline();
    if (state_.lists("scenarios", "single_stream")) measure_single_stream();
    if (state_.lists("scenarios", "multi_stream")) measure_multi_stream();
    if (state_.lists("scenarios", "server")) measure_server(rate);
    write_facts();
  }

 private:
  using Lanes = std::vector<std::unique_ptr<ImageLane>>;

  double needed_bytes() {
    std::int64_t lanes = model_.lane_bytes(1);
    for (const auto batch : state_.list<std::int64_t>("batches"))
      lanes = std::max(lanes, model_.lane_bytes(1) + model_.lane_bytes(batch));
    const std::int64_t inputs = limits_.samples * model_.input_bytes();
    const std::int64_t weights = model_.bytes() * (state_.flag("trained") ? 2 : 1);
    return static_cast<double>(weights + threads_ * lanes + inputs);
  }

  Lanes make_lanes(std::int64_t samples) {
    Lanes lanes;
    for (int thread = 0; thread < threads_; ++thread)
      lanes.push_back(make_image_lane(model_, samples, factory_));
    return lanes;
  }

  const ImageSample* sample(std::int64_t number) const {
    return &samples_[static_cast<std::size_t>(number % limits_.samples)];
  }

  void answer_alone(const ImageSample& sample) {
    const ImageSample* one = &sample;
    lanes_[0]->answer(std::span(&one, 1));
  }

  void record_reference_answers() {
    for (std::int64_t i = 0; i < limits_.samples; ++i)
      samples_.push_back(lanes_[0]->read(static_cast<std::uint64_t>(i)));
    answer_alone(samples_.front());  // warms up
    std::vector<double> seconds;
    for (const ImageSample& sample : samples_) {
      const Seconds begin = steady_now();
      answer_alone(sample);
      seconds.push_back((steady_now() - begin).value);
      reference_.push_back(lanes_[0]->hash(0));
    }
    alone_ = Seconds{median(seconds)};
  }

  void compare_with_f64() {
    ImageModel narrow(*workload_, std::min(kComparedSteps, model_.steps()), Dtype::f32);
    ImageModel wide(*workload_, narrow.steps(), Dtype::f64);
    // Weights by name too.
    const double need = needed_bytes() +
                        static_cast<double>(model_.bytes() + narrow.bytes() + wide.bytes()) +
                        static_cast<double>(narrow.lane_bytes(1) + wide.lane_bytes(1));
    if (need > budget_)
      return state_.skip_series("answer_error", params_,
                                fmt::format("the comparison needs {} of memory, may use {}",
                                            format(Bytes{need}), format(Bytes{budget_})));
    const ModelParameters values = model_.parameters();
    const ImageSample* first = samples_.data();
    std::vector<std::vector<double>> answers;
    for (ImageModel* model : {&narrow, &wide}) {
      model->set_parameters(values);
      const auto lane = make_image_lane(*model, 1, factory_);
      lane->answer(std::span(&first, 1));
      answers.push_back(lane->output());
    }
    const double error = relative_distance(answers[0], answers[1]);
    state_.value("answer_error", error, params_, {},
                 Check{"the same weights in f64", error, kNarrowTolerance});
  }

  void measure_quality() {
    if (workload_->name() == "flow") return measure_captions();
    const auto evaluation = workload_->evaluation(lanes_[0]->pass().model);
    for (std::int64_t i = 0; i < trained_->evaluated; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      answer_alone(lanes_[0]->read(number));
      evaluation->add(lanes_[0]->lane(), number, 1);
    }
    const training::Quality quality = evaluation->finish(state_.group());
    state_.value("quality", quality.native, params_);
    state_.value("gap", quality.gap, params_, {},
                 Check{"gap of the training's last evaluation",
                       std::fabs(quality.gap - trained_->gap), kGapTolerance});
  }

  void measure_captions() {
    const CaptionQuality law(training::flow_setting(workload_->preset()));
    const std::int64_t count = state_.integer("judged_images");
    double made = 0.0, best = 0.0, error = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      const ImageSample sample = lanes_[0]->read(static_cast<std::uint64_t>(i));
      answer_alone(sample);
      const std::vector<double> best_image = law.best_image(sample, model_.steps());
      made += law.distance(sample.words, lanes_[0]->image(0));
      best += law.distance(sample.words, best_image);
      error += law.between(lanes_[0]->image(0), best_image);
    }
    const auto images = static_cast<double>(count);
    std::optional<Check> check;
    if (trained_->converged)
      check = Check{"images that the best velocity makes", error / images, kImageTolerance};
    state_.value("image_error", error / images, params_, {}, check);
    state_.value("image_distance", made / images, params_);
    state_.value("best_image_distance", best / images, params_);
  }

  /// Returns the highest rate of a batch, in images per second.
  double measure_offline() {
    double highest = 0.0;
    for (const auto batch : state_.list<std::int64_t>("batches")) {
      const Lanes lanes = make_lanes(batch);
      std::vector<const ImageSample*> asked;
      for (std::int64_t i = 0; i < batch; ++i) asked.push_back(sample(i));
      Json params = params_;
      params["batch"] = batch;
      const auto images = static_cast<double>(batch * threads_);
      std::optional<Limit> limit = state_.known_limit("throughput", params);
      if (limit) limit->value /= model_.flops();
      Measurement m;
      m.params = params;
      m.work = [&](std::int64_t calls) {
        pool_->run([&](int thread) {
          for (std::int64_t call = 0; call < calls; ++call)
            lanes[static_cast<std::size_t>(thread)]->answer(asked);
        });
      };
      m.reports = {{"image_rate", images, limit}, {"throughput", images * model_.flops()}};
      m.verify = [&] {
        double different = 0.0;
        for (const auto& lane : lanes)
          for (std::int64_t i = 0; i < batch; ++i)
            if (lane->hash(i) != reference_[static_cast<std::size_t>(i % limits_.samples)])
              different += 1.0;
        return Check{kSameAnswers, different, 0.0};
      };
      m.threads = threads_;
      const Measured measured = state_.measure(m);
      if (measured.median.value > 0.0) highest = std::max(highest, images / measured.median.value);
    }
    return highest;
  }

  Json params_of(const char* scenario) const {
    Json params = params_;
    params["scenario"] = scenario;
    return params;
  }

  struct Run {
    ScenarioResult result;
    Conditions conditions;
    double checked = 0.0, different = 0.0;
  };

  template <class Scenario>
  Run watched_run(const Scenario& scenario) {
    std::vector<double> checked(static_cast<std::size_t>(threads_)), different = checked;
    const ImageCalls calls{
        [&](int thread, std::int64_t number) {
          const ImageSample* one = sample(number);
          lanes_[static_cast<std::size_t>(thread)]->answer(std::span(&one, 1));
        },
        [&](int thread, std::int64_t number) {
          const auto at = static_cast<std::size_t>(thread);
          checked[at] += 1.0;
          if (lanes_[at]->hash(0) != reference_[static_cast<std::size_t>(number)])
            different[at] += 1.0;
        }};
    Run run;
    run.conditions = watched(state_.device(), state_.group(), Worker::threads,
                             [&] { run.result = scenario(calls); });
    for (std::size_t i = 0; i < checked.size(); ++i) {
      run.checked += checked[i];
      run.different += different[i];
    }
    return run;
  }

  /// Percentiles of all queries that so many can show; those without an answer took longer than
  /// any.
  void write_latencies(const Run& run, Json params, std::optional<Limit> limit = {}) {
    std::vector<double> sorted = run.result.latencies;
    std::ranges::sort(sorted);
    const auto queries =
        static_cast<double>(sorted.size()) + static_cast<double>(run.result.unanswered);
    const auto series = state_.under(run.conditions);
    for (const auto& [name, share] : {std::pair{"p50", 0.5}, std::pair{"p90", 0.9},
                                      std::pair{"p99", 0.99}, std::pair{"p99.9", 0.999}}) {
      if (share > 0.5 && queries * (1.0 - share) < 1.0) continue;
      params["quantile"] = name;
      const auto rank = static_cast<std::size_t>(std::ceil(share * queries));
      if (rank > 0 && rank <= sorted.size())
        series.value("latency", sorted[rank - 1], params, share == 0.5 ? limit : std::nullopt);
      else
        state_.skip_series("latency", params,
                           queries > 0.0 ? fmt::format("{} of {:g} queries have no answer",
                                                       run.result.unanswered, queries)
                                         : "no query was due in the time; increase longest_s");
    }
    params.erase("quantile");
    if (run.checked == 0.0)
      return state_.skip_series("changed_answers", params, "no query was answered in the time");
    state_.value("changed_answers", run.different / run.checked, params, {},
                 Check{kSameAnswers, run.different, 0.0});
  }

  void write_estimate(const Run& run, Json params, double share) {
    params["quantile"] = fmt::format("p{:g}", 100.0 * share);
    if (const auto estimate = latency_estimate(run.result.latencies, share))
      return state_.under(run.conditions).value("latency_estimate", *estimate, params);
    state_.skip_series(
        "latency_estimate", params,
        fmt::format("{} queries in {:g} s, of at least {}; increase longest_s",
                    run.result.latencies.size(), limits_.longest.value, fewest_queries(share)));
  }

  void measure_single_stream() {
    const Json params = params_of("single_stream");
    const Run run = watched_run([&](const ImageCalls& calls) {
      return single_stream(calls, limits_, fewest_queries(kSingleStreamShare));
    });
    Json one = params;
    one["threads"] = 1;  // an answer is the work of one thread
    std::optional<Limit> limit = state_.known_limit("throughput", one);
    if (limit) limit->value = model_.flops() / limit->value;
    write_latencies(run, params, limit);
    write_estimate(run, params, kSingleStreamShare);
  }

  void measure_multi_stream() {
    const Json params = params_of("multi_stream");
    const Run run = watched_run([&](const ImageCalls& calls) {
      return multi_stream(calls, limits_, fewest_queries(kMultiStreamShare), *pool_);
    });
    write_latencies(run, params);
    write_estimate(run, params, kMultiStreamShare);
  }

  /// Whether 99 % of the queries keep the bound at a rate; nothing if there are too few of them.
  std::optional<bool> measure_rate(double rate, const Json& params) {
    ScenarioLimits limits = limits_;
    limits.time = std::max(limits.time, bound_ * kFewestBounds);
    limits.longest = std::max(limits.longest, limits.time);
    const Run run = watched_run(
        [&](const ImageCalls& calls) { return server(calls, limits, rate, bound_, *pool_); });
    state_.value("offered_rate", rate, params);
    const auto& latencies = run.result.latencies;
    const auto over = run.result.unanswered + std::ranges::count_if(latencies, [&](double latency) {
                        return latency > bound_.value;
                      });
    const auto queries = run.result.unanswered + std::ssize(latencies);
    write_latencies(run, params);
    if (queries > 0)
      state_.under(run.conditions)
          .value("in_bound", 1.0 - static_cast<double>(over) / static_cast<double>(queries),
                 params);
    if (!run.result.kept)
      warnings_.push_back(fmt::format(
          "server: {} of {} queries over the bound of {} at {:.3g} queries/s do not decide whether "
          "99 % keep it; increase longest_s",
          over, queries, format(bound_), rate));
    return run.result.kept;
  }

  void measure_server(double capacity) {
    Json params = params_of("server");
    const double asked = state_.number("bound_s");
    const std::optional<Seconds> fixed =
        asked > 0.0 ? Seconds{asked} : official_bound(workload_->preset());
    bound_ = fixed.value_or(alone_ * kDefaultBoundFactor);
    params["bound"] = fixed ? format(*fixed) : fmt::format("{:g} x alone", kDefaultBoundFactor);
    state_.value("bound", bound_.value, params);
    const auto shares = state_.list<double>("load_shares");
    if (!(capacity > 0.0))
      return state_.skip_series("highest_rate", params, "no image_rate is known: set batches");
    if (shares.empty())
      return state_.skip_series("highest_rate", params, "there is no load: set load_shares");
    const auto of_share = [&](double share) {
      Json of = params;
      of["load"] = fmt::format("{:g}", share);
      return of;
    };
    const serving::RateFound found = serving::search_rates(
        shares, state_.integer("refinements"),
        {.measure = [&](double share) { return measure_rate(share * capacity, of_share(share)); },
         .skip =
             [&](double share, double missed) {
               state_.skip_series("latency", of_share(share),
                                  fmt::format("a share of {:g} missed the bound already", missed));
             }});
    if (found.holds)
      state_.value("highest_rate", *found.holds * capacity, params);
    else
      state_.skip_series(
          "highest_rate", params,
          found.misses ? fmt::format("already a share of {:g} missed the bound", *found.misses)
                       : "no load decided; increase longest_s");
    if (found.highest_held)
      warnings_.push_back(fmt::format(
          "server: a share of {:g}, the highest, kept the bound; try higher ones", *found.holds));
  }

  void write_facts() {
    Json facts = {{"kernels", kernels_.name()}, {"flops_per_answer", model_.flops()}};
    Json warnings = warnings_;
    if (trained_) trained_->describe(facts, warnings);
    facts["warnings"] = std::move(warnings);
    state_.facts("image_inference", facts);
  }

  State& state_;
  TrainingKernels& kernels_;
  std::unique_ptr<training::Workload> workload_;
  int threads_;
  ScenarioLimits limits_;
  ImageModel model_;
  training::KernelFactory factory_;
  double budget_ = 0.0;
  Json params_;  // of every series
  std::optional<TrainedModel> trained_ = {};
  std::vector<ImageSample> samples_ = {};
  std::vector<std::uint64_t> reference_ = {};  // hashes of each sample's answer alone
  Seconds alone_ = {};                         // median time of these answers
  Seconds bound_ = {};                         // of server
  std::unique_ptr<training::WorkerPool> pool_ = {};
  Lanes lanes_ = {};  // of one sample, one for each thread
  std::vector<std::string> warnings_ = {};
};

void run_image_inference(State& state) {
  TrainingKernels* kernels = state.device().training_kernels();
  if (kernels == nullptr) return state.skip("this device has no training kernels");
  if (state.group().size() > 1) return state.skip("answers are those of one rank; set ranks to 1");
  ImageInferenceProbe(state, *kernels).run();
}

const Registration image_inference_probe{"image_inference", run_image_inference};

}  // namespace
}  // namespace bench
