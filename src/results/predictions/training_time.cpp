#include "results/predictions/training_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench {
namespace {

constexpr double kTokensPerParameter = 20.0;

double ring_share(int ranks) { return ranks < 2 ? 0.0 : 2.0 * (ranks - 1) / ranks; }

/// Of a device in a step: two all-reduces of activations a layer, forward and backward each.
double tensor_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  if (split.tensor < 2) return 0.0;
  const double message = question.micro_batch * question.model.tokens_or(question.sequence) /
                         split.context * question.model.hidden * question.activation_bytes;
  const double layers = std::ceil(question.model.layers / split.pipeline);
  return 4 * layers * micro_batches * message * ring_share(split.tensor);
}

/// Gradients reduced and weights gathered: once a step; by ZeRO 2 gradients are reduced in every
/// micro batch, by ZeRO 3 weights are gathered twice in each, too.
double data_bytes(const StepQuestion& question, double micro_batches) {
  const TrainingSplit& split = question.split;
  const int replicas = split.data * split.context;
  const double own = question.model.parameters() / (split.tensor * split.pipeline);
  const double passes = split.zero >= 3   ? 3 * micro_batches
                        : split.zero == 2 ? micro_batches + 1
                                          : 2;
  return own * question.gradient_bytes * passes * ring_share(replicas) / 2;
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
  const double flops = question.model.training_flops_per_token(sequence) * question.global_batch *
                       sequence / split.devices();
  const double tensor_s =
      seconds_at(tensor_bytes(question, micro_batches), question.tensor_bytes_per_second, "tensor");
  const double data_s =
      seconds_at(data_bytes(question, micro_batches), question.data_bytes_per_second, "data");
  const double exposed_s = data_s * (1.0 - question.overlap);
  const double bubble =
      (split.pipeline - 1) / (micro_batches * split.interleaved);  // of compute and tensor time
  const auto step = [&](double rate) {
    const double busy = flops / rate + tensor_s;
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
  if (data_s > 0)
    answer.input("data_bytes_per_second", question.data_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
  answer.what = "time of a step";
  answer.unit = PredictedUnit::seconds;
  answer.measured_as.metric = "training.step_time";
  answer.value = step(question.compute.flops_per_second);
  answer.low = step(question.compute.high);
  answer.high = step(question.compute.low);
  const double compute_s = flops / question.compute.flops_per_second;
  answer.part("compute_s", compute_s, PredictedUnit::seconds);
  answer.part("tensor_communication_s", tensor_s, PredictedUnit::seconds);
  answer.part("bubble_s", (compute_s + tensor_s) * bubble, PredictedUnit::seconds);
  answer.part("exposed_data_communication_s", exposed_s, PredictedUnit::seconds);
  answer.part("hidden_data_communication_s", data_s - exposed_s, PredictedUnit::seconds);
  answer.part("tokens_per_second", question.global_batch * sequence / answer.value,
              PredictedUnit::tokens_per_second);
  answer.formula =
      "(operations / (devices x rate) + 4 all-reduces of activations a layer) x (1 + (stages - 1) "
      "/ "
      "(micro batches x chunks)) + (1 - overlap) x exchange of gradients and weights; at least the "
      "input";
  answer.sources = {"tensor parallelism: Shoeybi et al. 2019, arXiv 1909.08053",
                    "bubble: Narayanan et al. 2021, arXiv 2104.04473"};
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
      "tokens x (6 x active parameters + 6 x layers x sequence x attention dimension) / (devices x "
      "peak x MFU x goodput)";
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
