#include "probes/training/training_log.h"

#include <filesystem>

#include "core/dtype.h"
#include "core/text.h"
#include "core/time.h"

namespace bench {
namespace {

std::string name_of(const training::Schedule& schedule) {
  using Shape = training::Schedule::Shape;
  switch (schedule.shape) {
    case Shape::constant:
      return "constant with linear warmup";
    case Shape::linear:
      return "linear with linear warmup";
    case Shape::cosine:
      return "cosine with linear warmup";
    case Shape::linear_last:
      return "constant, then linear, with linear warmup";
  }
  return "";
}

/// As MLPerf's rules name the types in which a training computes.
std::string precision_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "fp64";
    case Dtype::f32:
      return "fp32";
    case Dtype::bf16:
      return "bfloat16";
    case Dtype::f16:
      return "fp16";
    default:
      return std::string(to_string(dtype));
  }
}

}  // namespace

TrainingLog::TrainingLog(State& state, const std::string& file) : state_(state) {
  if (!file.empty() && state.group().rank() == 0) file_.emplace(file);
}

void TrainingLog::write(MllogEvent event, const std::string& key, const Json& value,
                        const Json& metadata, const Place& place) {
  if (state_.group().rank() != 0) return;
  MllogLine line;
  line.time_ms = now_ns() / 1'000'000;
  line.event = event;
  line.key = key;
  line.value = value;
  line.metadata = metadata;
  line.metadata["file"] = std::filesystem::path(place.file_name()).filename().string();
  line.metadata["lineno"] = place.line();
  state_.event("mllog", to_json(line));
  if (file_) file_->write(line);
}

void TrainingLog::point(const std::string& key, const Json& value, const Json& metadata,
                        const Place& place) {
  write(MllogEvent::point_in_time, key, value, metadata, place);
}
void TrainingLog::begin(const std::string& key, const Json& metadata, const Place& place) {
  write(MllogEvent::interval_start, key, nullptr, metadata, place);
}
void TrainingLog::end(const std::string& key, const Json& metadata, const Place& place) {
  write(MllogEvent::interval_end, key, nullptr, metadata, place);
}

void TrainingLog::init_start(const Json& cache) {
  Json metadata = cache;
  metadata.erase("cleared");
  point("cache_clear", cache.at("cleared"), metadata);
  begin("init_start");
}

void TrainingLog::init_stop(const training::Workload& workload,
                            const training::TrainerOptions& options,
                            const training::Trainer& trainer) {
  const training::Recipe& recipe = options.recipe;
  metric_key_ = workload.metric_key();
  logged_samples_ = workload.logged_samples();
  names(workload);
  point("benchctl_twin", workload.name() + " " + workload.preset(),
        {{"note", workload.knows_floor() ? "a twin on generated data, not an MLPerf result"
                                         : "a twin on user data, not an MLPerf result"}});
  point("seed", options.seed);
  point("global_batch_size", recipe.batch * logged_samples_);
  if (logged_samples_ > 1) point("num_prompts_per_step", recipe.batch);
  point("gradient_accumulation_steps", trainer.split().micro_batches);
  point("train_samples",
        (options.steps > 0 ? options.steps : recipe.horizon) * recipe.batch * logged_samples_);
  point("eval_samples", options.steps > 0 ? 0 : recipe.evaluation_samples * logged_samples_);
  if (!metric_key_.empty() && options.steps == 0)
    point("evaluation_frequency", recipe.evaluation_every * recipe.batch * logged_samples_);
  const Json optimizer = workload.optimizer_options();
  for (const auto& [key, value] : optimizer.items()) point(key, value);
  schedule(recipe);
  disclosures(workload, options, trainer);
  end("init_stop");
}

/// MLPerf's checks require these fields, but no benchmark or organization name applies.
void TrainingLog::names(const training::Workload& workload) {
  point("submission_benchmark", "benchctl_" + workload.name() + "_" + workload.preset());
  point("submission_division", "open");
  point("submission_org", "none: a benchctl twin, not a submission");
  point("submission_platform", "none: a benchctl twin, not a submission");
  point("submission_status", "research");
}

void TrainingLog::schedule(const training::Recipe& recipe) {
  const training::Schedule& s = recipe.schedule;
  const bool falls = s.shape != training::Schedule::Shape::constant;
  point("opt_base_learning_rate", s.peak);
  point("opt_end_learning_rate", falls ? s.peak * s.floor : s.peak);
  point("opt_learning_rate_warmup_steps", s.warmup);
  point("opt_learning_rate_decay_steps", falls ? s.horizon : 0);
  point("opt_learning_rate_decay_schedule", name_of(s));
  point("opt_gradient_clip_norm", recipe.clip);
}

/// Required since Training v6.1. Attention computes in the type of the products; gradients are
/// exchanged in f32, what divided models exchange in the type of the model.
void TrainingLog::disclosures(const training::Workload& workload,
                              const training::TrainerOptions& options,
                              const training::Trainer& trainer) {
  point("lowest_numerical_precision_in_linear", precision_name(options.dtype));
  point("lowest_numerical_precision_in_attn", precision_name(options.dtype));
  const bool divided = !trainer.ranks().part().is_whole();
  point("lowest_numerical_precision_in_comm", precision_name(divided ? options.dtype : Dtype::f32));
  point("tensor_parallelism", options.split.tensor);
  point("pipeline_parallelism", options.split.pipeline);
  point("context_parallelism", options.split.context);
  point("expert_parallelism", options.split.expert);
  point("micro_batch_size", trainer.split().micro_batch);
  point("config_filename", workload.name() + " " + workload.preset());  // a preset has no file
}

Json TrainingLog::after(std::int64_t samples) const {
  return {{"samples_count", samples * logged_samples_}};
}

void TrainingLog::run_start() { begin("run_start"); }
void TrainingLog::block_start(std::int64_t samples) { begin("block_start", after(samples)); }
void TrainingLog::block_stop(std::int64_t samples) { end("block_stop", after(samples)); }
void TrainingLog::evaluation_start(std::int64_t samples) { begin("eval_start", after(samples)); }

void TrainingLog::evaluation_stop(std::int64_t samples, const training::Quality& quality) {
  end("eval_stop", after(samples));
  Json metadata = after(samples);
  metadata["gap"] = quality.gap;
  metadata["floor"] = quality.floor;
  point("eval_accuracy", quality.native, metadata);
  if (!metric_key_.empty()) point(metric_key_, quality.native, after(samples));
}

void TrainingLog::run_stop(std::int64_t samples, bool converged) {
  Json metadata = after(samples);
  metadata["status"] = converged ? "success" : "aborted";
  end("run_stop", metadata);
}

}  // namespace bench
