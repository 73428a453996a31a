#include "results/predictions/training_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr double kFragmentation = 1.1;  // of the sum, at most, by experience of caching allocators

std::map<std::string, int*> members_of(TrainingSplit& split) {
  return {{"tp", &split.tensor},     {"pp", &split.pipeline}, {"dp", &split.data},
          {"cp", &split.context},    {"ep", &split.expert},   {"zero", &split.zero},
          {"vp", &split.interleaved}};
}

}  // namespace

TrainingSplit training_split(const std::string& text) {
  TrainingSplit split;
  auto members = members_of(split);
  for (const std::string_view part : words_of(text, ",")) {
    const std::size_t equals = part.find('=');
    const auto member = members.find(std::string(part.substr(0, equals)));
    const auto number =
        equals == std::string::npos ? std::nullopt : parse_as<int>(part.substr(equals + 1));
    const bool zero = member != members.end() && member->first == "zero";
    if (member == members.end() || !number || *number < (zero ? 0 : 1) || (zero && *number > 3))
      throw Error(ErrorKind::usage, "'" + printable(part) + "' is no part of a split",
                  "write it as tp=8,pp=4,dp=2,cp=1,ep=8,vp=1,zero=1, each at most once");
    *member->second = *number;
    members.erase(member);
  }
  return split;
}

std::string to_string(const TrainingSplit& split) {
  TrainingSplit copy = split;
  std::string text;
  for (const char* name : {"tp", "pp", "dp", "cp", "ep", "vp", "zero"}) {
    const int value = *members_of(copy).at(name);
    if (value == (name == std::string("zero") ? 0 : 1)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text.empty() ? "one device" : text;
}

namespace {

double sequence_of(const TrainingMemoryQuestion& question) {
  return question.model.tokens_or(question.sequence);
}

double tokens_of(const TrainingMemoryQuestion& question) {
  return question.micro_batch * sequence_of(question) / question.split.context;
}

/// Numbers that a layer keeps per token: inputs of norms, of the products, of attention and of the
/// activation function.
double numbers_per_token(const ModelShape& model) {
  const double feed_forward =
      model.experts ? (model.experts->active + model.experts->shared) * model.experts->feed_forward
                    : model.feed_forward;
  const double inputs = 4 * model.hidden;  // of two norms, and what they give to the products
  const double attention = model.query_dimension() + model.kv_dimension() +
                           (model.latent ? model.value_dimension() : model.kv_dimension()) +
                           model.value_dimension();
  return inputs + attention + (model.gated ? 3 : 2) * feed_forward;
}

}  // namespace

double layer_activation_bytes(const TrainingMemoryQuestion& question) {
  const ModelShape& model = question.model;
  const double tokens = tokens_of(question);
  if (question.recompute == Recompute::full)
    return tokens * model.hidden * question.activation_bytes / question.split.tensor;
  double bytes = tokens * numbers_per_token(model) * question.activation_bytes;
  bytes += tokens * model.heads * 4;  // log-sum-exp of each row
  if (!question.fused_attention && question.recompute == Recompute::none)
    // Scores, probabilities and a dropout mask: 5 bytes an element of the square in 16 bit.
    bytes += tokens * sequence_of(question) * model.heads * (2 * question.activation_bytes + 1);
  return bytes / question.split.tensor;
}

namespace {

void demand_divisible(double whole, int parts, const std::string& what) {
  if (std::fmod(whole, parts) != 0.0)
    throw Error(ErrorKind::input, fmt::format("{} {} cannot be split into {}", whole, what, parts),
                "choose a divisor");
}

}  // namespace

void check_split(const ModelShape& model, const TrainingSplit& split, double sequence) {
  demand_divisible(model.heads, split.tensor, "attention heads");
  if (split.context > 1) demand_divisible(sequence, 2 * split.context, "tokens of a sequence");
  if (split.pipeline * split.interleaved > model.layers)
    throw Error(ErrorKind::input,
                fmt::format("{} layers are fewer than {} stages of {} chunks", model.layers,
                            split.pipeline, split.interleaved),
                "choose a smaller pipeline");
  if (split.expert == 1) return;
  if (!model.experts)
    throw Error(ErrorKind::input, model.name + " has no experts to split", "leave out ep");
  demand_divisible(model.experts->count, split.expert, "experts");
  if ((split.data * split.context * split.tensor) % split.expert != 0)
    throw Error(ErrorKind::input,
                fmt::format("experts over {} devices do not divide the {} of a pipeline stage",
                            split.expert, split.data * split.context * split.tensor),
                "choose a divisor");
}

namespace {

struct Shares {
  double parameters = 0.0;  // on the first stage, per device, before ZeRO
  double replicas = 1.0;    // over which ZeRO splits them
};

/// Dense parameters and routed ones have other replicas: expert parallelism takes from both tensor
/// and data parallelism.
std::vector<Shares> shares_of(const TrainingMemoryQuestion& question) {
  const ModelShape& model = question.model;
  const TrainingSplit& split = question.split;
  const double embedding = model.vocabulary * model.hidden;
  const double heads_and_ends =
      embedding * (model.tied_embeddings ? 1 : 2) + model.positions * model.hidden;
  const double routed = model.routed_parameters();
  const double layers = model.parameters() - routed - heads_and_ends;
  const double layer_share = std::ceil(model.layers / split.pipeline) / model.layers;
  // The first stage has the input embedding; alone it has the output's too.
  const double ends =
      split.pipeline == 1 ? heads_and_ends : embedding + model.positions * model.hidden;
  const double stage = split.tensor * split.data * split.context;
  std::vector<Shares> shares = {
      {(layers * layer_share + ends) / split.tensor, double(split.data) * split.context}};
  if (routed > 0) shares.push_back({routed * layer_share / split.expert, stage / split.expert});
  return shares;
}

double sum_over(const std::vector<Shares>& shares, double bytes, bool split) {
  double sum = 0.0;
  for (const Shares& one : shares) sum += one.parameters * bytes / (split ? one.replicas : 1.0);
  return sum;
}

/// How many micro batches the first stage holds at once (1F1B; Narayanan et al. 2021 for chunks).
double held_micro_batches(const TrainingMemoryQuestion& question) {
  const TrainingSplit& split = question.split;
  const double stages = split.pipeline;
  const double chunks = split.interleaved;
  const double held = chunks > 1 ? stages * (1 + (stages - 1) / (stages * chunks)) : stages;
  return question.micro_batches > 0 ? std::min(held, question.micro_batches) : held;
}

}  // namespace

Prediction predict_training_memory(const TrainingMemoryQuestion& question) {
  check_split(question.model, question.split, sequence_of(question));
  const ModelShape& model = question.model;
  const TrainingSplit& split = question.split;
  const auto shares = shares_of(question);
  const double weights = sum_over(shares, question.weight_bytes, split.zero >= 3);
  const double gradients = sum_over(shares, question.gradient_bytes, split.zero >= 2);
  const double state = sum_over(shares, question.optimizer_bytes, split.zero >= 1);
  const bool offloads = question.offload_bytes_per_second > 0;
  const double optimizer = offloads ? 0.0 : state;
  const double layers = std::ceil(model.layers / split.pipeline);
  double activations = layer_activation_bytes(question) * layers * held_micro_batches(question);
  if (question.recompute == Recompute::full) {  // one layer at a time is computed again
    TrainingMemoryQuestion kept = question;
    kept.recompute = Recompute::selective;
    activations += layer_activation_bytes(kept);
  }
  const double logits = split.pipeline == 1  // in f32, and their gradient in place
                            ? tokens_of(question) * model.vocabulary * 4 / split.tensor
                            : 0.0;
  Prediction answer{.question = "memory", .model = model.name};
  answer.input("parameters", model.parameters(), model.source);
  answer.input("split", to_string(split), "given");
  answer.input("micro_batch", question.micro_batch, "given");
  answer.input("sequence", sequence_of(question), question.sequence > 0 ? "given" : model.source);
  answer.input("weight_bytes", question.weight_bytes, "bytes per parameter");
  answer.input("gradient_bytes", question.gradient_bytes, "bytes per parameter");
  answer.input("optimizer_bytes", question.optimizer_bytes, "bytes per parameter");
  answer.input("recompute", kRecomputes.name(question.recompute), "given");
  answer.what = "memory of the fullest device (the first stage of the pipeline)";
  answer.value = weights + gradients + optimizer + activations + logits;
  answer.measured_as.metric = "training.memory";
  answer.low = answer.value;
  answer.high = answer.value * kFragmentation;
  answer.part("weights_bytes", weights);
  answer.part("gradients_bytes", gradients);
  answer.part("optimizer_bytes", optimizer);
  if (offloads) {
    answer.input("offload_bytes_per_second", question.offload_bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
    answer.part("offloaded_bytes", state);
    answer.part("offload_seconds", 2 * state / question.offload_bytes_per_second,
                PredictedUnit::seconds);
  }
  answer.part("activations_bytes", activations);
  answer.part("logits_bytes", logits);
  answer.formula =
      "parameters x (weight + gradient + optimizer bytes), each over tensor x pipeline and, by "
      "ZeRO's stage, over data; + layers x micro batches held x tokens x numbers kept per token";
  answer.sources = {"ZeRO: Rajbhandari et al. 2020, arXiv 1910.02054",
                    "activations: Korthikanti et al. 2022, arXiv 2205.05198, recounted for gated "
                    "layers, grouped heads and fused attention",
                    "pipeline: Narayanan et al. 2021, arXiv 2104.04473"};
  answer.notes = {
      "low is the sum itself; high allows for 10 % of fragmentation; contexts of CUDA "
      "and NCCL (about 1 to 3 GB) come on top",
      "a training that is measured against this has gradients and activations for each of its "
      "lanes: train with --lanes 1"};
  if (offloads) {
    answer.sources.emplace_back(
        "offload: ZeRO-Infinity, Rajbhandari et al. 2021, arXiv 2104.07857");
    answer.notes.emplace_back(
        "offload_seconds: each step reads and writes the optimizer's state; what update and passes "
        "do not hide of it is added to a step. Windows of the state that are on the device come on "
        "top: of benchctl train three of 16 or more, each of at most 2 Mi parameters");
  }
  return answer;
}

}  // namespace bench
