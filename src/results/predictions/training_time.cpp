#include "results/predictions/training_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench {
namespace {

constexpr double kTokensPerParameter = 20.0;

double ring_share(double ranks) { return ranks < 2 ? 0.0 : 2.0 * (ranks - 1) / ranks; }

constexpr double kFullRecompute = 4.0 / 3.0;  // of the operations: the forward pass twice

double tokens_of(const StepQuestion& question) {
  return question.micro_batch * question.model.tokens_or(question.sequence) /
         question.split.context;
}

/// Of a layer's messages: forward, backward, and forward again where that is computed again.
double passes_of(const StepQuestion& question) {
  return question.recompute == Recompute::full ? 3.0 : 2.0;
}

double routed_layers(const ModelShape& model) {
  return model.experts ? model.layers - model.experts->dense_layers : 0.0;
}

/// Of a device in a step: two all-reduces of activations a layer and pass, behind attention and
/// behind the feed-forward part. Routed experts have none: each device has whole ones and sends
/// them its own rows. The vocabulary is divided, too: one for the embedding, forward, and one for
/// the head, backward, which different stages have.
double tensor_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  if (split.tensor < 2) return 0.0;
  const ModelShape& model = question.model;
  const double message = tokens_of(question) * model.hidden * question.activation_bytes;
  const double routed = model.experts && model.experts->shared > 0 ? 0.0 : routed_layers(model);
  const double all_reduces = (2 * model.layers - routed) / model.layers;
  const double layers = std::ceil(model.layers / split.pipeline);
  const double of_layers = passes_of(question) * all_reduces * layers;
  const double of_vocabulary = split.pipeline > 1 ? 1.0 : 2.0;
  return (of_layers + of_vocabulary) * micro_batches * message * ring_share(split.tensor);
}

/// Keys and values pass around the ring of contexts in each direction, and on the way back their
/// gradients come home with one pass more (probes/traffic/step_schedule.cpp makes the same calls).
double context_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  if (split.context < 2) return 0.0;
  const ModelShape& model = question.model;
  const double values = model.latent ? model.value_dimension() : model.kv_dimension();
  // More tensor ranks than key-value heads have copies of them.
  const double parts = model.latent ? split.tensor : std::min<double>(split.tensor, model.kv_heads);
  const double message =
      tokens_of(question) * (model.kv_dimension() + values) / parts * question.activation_bytes;
  const double layers = std::ceil(model.layers / split.pipeline);
  const double messages = passes_of(question) * (split.context - 1) + split.context;
  return layers * micro_batches * messages * message;
}

/// Rows of tokens to the devices of their experts and back, forward and backward, if all experts
/// have equally many.
double expert_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  if (split.expert < 2 || !question.model.experts) return 0.0;
  const ModelShape& model = question.model;
  const double rows = tokens_of(question) / split.tensor * model.experts->active;
  const double elsewhere = static_cast<double>(split.expert - 1) / split.expert;
  return 2 * passes_of(question) * std::ceil(routed_layers(model) / split.pipeline) *
         micro_batches * rows * model.hidden * question.activation_bytes * elsewhere;
}

/// Of the step, on one device: what ModelShape::training_flops_per_token() has of attention.
double attention_flops(const StepQuestion& question) {
  const ModelShape& model = question.model;
  const double sequence = model.tokens_or(question.sequence);
  const double per_token =
      model.training_flops_per_token(sequence) - model.training_flops_per_token(0.0);
  return per_token * question.global_batch * sequence / question.split.devices();
}

/// Gradients reduced and weights gathered: once a step; by ZeRO 2 gradients are reduced in every
/// micro batch, by ZeRO 3 weights are gathered twice in each, too.
double data_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  const double replicas = split.data * split.context;
  const double routed = question.model.routed_parameters();
  const double dense = (question.model.parameters() - routed) / (split.tensor * split.pipeline);
  const double experts = routed / (split.expert * split.pipeline);
  const double passes = split.zero >= 3   ? 3 * micro_batches
                        : split.zero == 2 ? micro_batches + 1
                                          : 2;
  const double all =
      dense * ring_share(replicas) + experts * ring_share(split.tensor * replicas / split.expert);
  return all * question.gradient_bytes * passes / 2;
}

double seconds_at(double bytes, double rate, const char* what) {
  if (bytes == 0.0) return 0.0;
  if (rate > 0.0) return bytes / rate;
  throw Error(ErrorKind::input, fmt::format("the bandwidth of the {} group is missing", what),
              fmt::format("give --{}-bandwidth in bytes per second", what));
}

}  // namespace

Prediction predict_step(const StepQuestion& question) {
  const TrainingSplit& split = question.split;
  const double micro_batches = question.global_batch / (split.data * question.micro_batch);
  if (micro_batches < 1 || micro_batches != std::floor(micro_batches))
    throw Error(ErrorKind::input,
                fmt::format("a batch of {} is no multiple of {} replicas x {} sequences",
                            question.global_batch, split.data, question.micro_batch),
                "change --batch, --micro-batch or dp");
  const double sequence = question.model.tokens_or(question.sequence);
  check_split(question.model, split, sequence);
  const double again = question.recompute == Recompute::full ? kFullRecompute : 1.0;
  const double flops = again * question.model.training_flops_per_token(sequence) *
                       question.global_batch * sequence / split.devices();
  const double tensor_s =
      seconds_at(tensor_bytes(question, micro_batches), question.tensor_bytes_per_second, "tensor");
  const double data_s =
      seconds_at(data_bytes(question, micro_batches), question.data_bytes_per_second, "data");
  const double expert_s =
      seconds_at(expert_bytes(question, micro_batches), question.expert_bytes_per_second, "expert");
  const double context_s = seconds_at(context_bytes(question, micro_batches),
                                      question.context_bytes_per_second, "context");
  const double attention = again * attention_flops(question);
  const double exposed_s = data_s * (1.0 - question.overlap);
  const double bubble =
      (split.pipeline - 1) / (micro_batches * split.interleaved);  // of a stage's time
  const auto exposed_context = [&](double rate) {
    return std::max(0.0, context_s - attention / rate);
  };
  const auto step = [&](double rate, double of_context) {
    const double busy = flops / rate + tensor_s + expert_s + of_context;
    return std::max(busy * (1.0 + bubble) + exposed_s, question.input_s);
  };
  Prediction answer{.question = "step", .model = question.model.name};
  answer.input("split", to_string(split), "given");
  answer.input("global_batch", question.global_batch, "given");
  answer.input("micro_batch", question.micro_batch, "given");
  answer.input("sequence", sequence, question.sequence > 0 ? "given" : question.model.source);
  answer.input("flops_per_second", question.compute.flops_per_second, question.compute.source,
               PredictedUnit::flops_per_second);
  if (tensor_s > 0)
    answer.input("tensor_bytes_per_second", question.tensor_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
  if (context_s > 0)
    answer.input("context_bytes_per_second", question.context_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
  if (expert_s > 0)
    answer.input("expert_bytes_per_second", question.expert_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
  if (data_s > 0)
    answer.input("data_bytes_per_second", question.data_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
  answer.what = "time of a step";
  answer.unit = PredictedUnit::seconds;
  answer.measured_as.metric = "training.step_time";
  const double rate = question.compute.flops_per_second;
  answer.value = step(rate, exposed_context(rate));
  answer.low = step(question.compute.high, exposed_context(question.compute.high));
  answer.high = step(question.compute.low, context_s);
  const double compute_s = flops / rate, of_context = exposed_context(rate);
  answer.part("compute_s", compute_s, PredictedUnit::seconds);
  answer.part("tensor_communication_s", tensor_s, PredictedUnit::seconds);
  if (context_s > 0) {
    answer.part("exposed_context_communication_s", of_context, PredictedUnit::seconds);
    answer.part("hidden_context_communication_s", context_s - of_context, PredictedUnit::seconds);
  }
  if (expert_s > 0) answer.part("expert_communication_s", expert_s, PredictedUnit::seconds);
  answer.part("bubble_s", (compute_s + tensor_s + expert_s + of_context) * bubble,
              PredictedUnit::seconds);
  answer.part("exposed_data_communication_s", exposed_s, PredictedUnit::seconds);
  answer.part("hidden_data_communication_s", data_s - exposed_s, PredictedUnit::seconds);
  answer.part("tokens_per_second", question.global_batch * sequence / answer.value,
              PredictedUnit::tokens_per_second);
  answer.formula =
      "(operations / (devices x rate) + 4 all-reduces of activations a layer, 2 with routed "
      "experts, and 2 of the vocabulary + 4 all-to-alls of tokens a layer with experts + (3 "
      "contexts - 2) messages of keys "
      "and values a layer beyond the time of attention; of layers that are computed again half as "
      "many more) x (1 + (stages - 1) / (micro batches x chunks)) + (1 - overlap) x "
      "exchange of gradients and weights; at least the input";
  answer.sources = {"tensor parallelism: Shoeybi et al. 2019, arXiv 1909.08053",
                    "bubble: Narayanan et al. 2021, arXiv 2104.04473",
                    "context parallelism: Liu et al. 2023, arXiv 2310.01889",
                    "expert parallelism: Lepikhin et al. 2020, arXiv 2006.16668"};
  return answer;
}

Prediction predict_train(const TrainQuestion& question) {
  const double sequence = question.model.tokens_or(question.sequence);
  const double flops = question.model.training_flops_per_token(sequence) * question.tokens;
  const double peak = question.peak_flops * question.devices * question.available;
  Prediction answer{.question = "train", .model = question.model.name};
  answer.input("parameters", question.model.parameters(), question.model.source);
  answer.input("tokens", question.tokens, "given");
  answer.input("sequence", sequence, question.sequence > 0 ? "given" : question.model.source);
  answer.input("devices", question.devices, "given");
  answer.input("peak_flops", question.peak_flops, question.peak_source,
               PredictedUnit::flops_per_second);
  answer.input("mfu", question.mfu, question.mfu_source);
  answer.input("goodput", question.available, question.available == 1.0 ? "default" : "given");
  answer.what = "time to train";
  answer.unit = PredictedUnit::seconds;
  answer.value = flops / (peak * question.mfu);
  answer.low = flops / (peak * question.mfu_high);
  answer.high = flops / (peak * question.mfu_low);
  answer.part("operations", flops, PredictedUnit::flops);
  answer.part("days", answer.value / kSecondsOfDay, PredictedUnit::count);
  const double hours = answer.value / kSecondsOfHour * question.devices;
  answer.part("device_hours", hours, PredictedUnit::count);
  if (question.dollars_per_device_hour) {
    answer.input("dollars_per_device_hour", *question.dollars_per_device_hour, "given");
    answer.part("dollars", hours * *question.dollars_per_device_hour, PredictedUnit::count);
  }
  answer.part("tokens_per_second", question.tokens / answer.value,
              PredictedUnit::tokens_per_second);
  answer.formula =
      "tokens x (6 x active parameters + 3 x layers x sequence x (query + value dimensions)) / "
      "(devices x peak x MFU x goodput)";
  answer.sources = {
      "operations: Kaplan et al. 2020, arXiv 2001.08361; attention of causal models "
      "at half the square",
      "MFU: Chowdhery et al. 2022, arXiv 2204.02311"};
  return answer;
}

Prediction predict_optimal_split(double flops) {
  Prediction answer{.question = "train"};
  answer.input("operations", flops, "given");
  answer.what = "parameters of the compute-optimal model";
  answer.unit = PredictedUnit::count;
  answer.value = std::sqrt(flops / (6 * kTokensPerParameter));
  // 10 to 40 tokens per parameter: what the three approaches of the paper span at such budgets.
  answer.low = std::sqrt(flops / (6 * 2 * kTokensPerParameter));
  answer.high = std::sqrt(flops / (6 * 0.5 * kTokensPerParameter));
  answer.part("tokens", kTokensPerParameter * answer.value, PredictedUnit::count);
  answer.formula = "operations = 6 x parameters x tokens, tokens = 20 x parameters";
  answer.sources = {"Hoffmann et al. 2022, arXiv 2203.15556"};
  answer.notes = {"a model that will be served much is trained on more tokens than this"};
  return answer;
}

}  // namespace bench
