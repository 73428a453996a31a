#include "results/predictions/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

/// Weights that a step of so many sequences reads: of experts, those that at least one token picks.
double weights_read(const ServeQuestion& question, double batch) {
  const ModelShape& model = question.model;
  const double embedding = model.vocabulary * model.hidden;  // is looked up, not read
  double all = model.parameters() - (model.tied_embeddings ? 0.0 : embedding);
  if (model.experts) {
    const double picked = model.experts->active / model.experts->count;
    const double unread = std::pow(1.0 - picked, batch);
    all -= model.routed_parameters() * unread;
  }
  return all * question.weight_bytes;
}

struct Step {
  double weights_s = 0.0, cache_s = 0.0, compute_s = 0.0;
  double seconds() const { return std::max(weights_s + cache_s, compute_s); }
};

Step step_of(const ServeQuestion& question, double batch) {
  const double rate = question.device_bytes_per_second * question.devices;
  Step step;
  step.weights_s = weights_read(question, batch) / rate;
  step.cache_s =
      batch * question.context * question.model.cache_bytes_per_token(question.cache_bytes) / rate;
  if (question.device_flops > 0.0) {
    const double attention = 2 * question.model.layers * question.context *
                             (question.model.query_dimension() + question.model.value_dimension());
    step.compute_s = batch * (2 * question.model.active_matrix_parameters() + attention) /
                     (question.device_flops * question.devices);
  }
  return step;
}

/// The most sequences whose step stays within the bound and whose caches fit.
double largest_batch(const ServeQuestion& question, double sequences) {
  double low = 0.0, high = std::floor(sequences);
  while (low < high) {
    const double middle = std::ceil((low + high) / 2);
    if (step_of(question, middle).seconds() <= question.bound_s)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace

double tokens_per_verification(double accepted, double drafted) {
  if (accepted >= 1.0) return drafted + 1.0;
  return (1.0 - std::pow(accepted, drafted + 1.0)) / (1.0 - accepted);
}

Prediction predict_serve(const ServeQuestion& question) {
  const ModelShape& model = question.model;
  const double weights = model.parameters() * question.weight_bytes;
  const double room = question.device_memory_bytes * question.devices * question.usable;
  if (weights >= room)
    throw Error(ErrorKind::input,
                fmt::format("{} of weights do not fit into {:g} % of {} x {}",
                            format(Bytes{weights}), 100 * question.usable, question.devices,
                            format(Bytes{question.device_memory_bytes})),
                "take more devices, or smaller weights (--weight-bytes 1)");
  const double a_token = model.cache_bytes_per_token(question.cache_bytes);
  const double sequences = (room - weights) / (a_token * question.context);
  const Step step = step_of(question, question.batch);
  Prediction answer{.question = "serve", .model = model.name};
  answer.input("parameters", model.parameters(), model.source);
  answer.input("devices", question.devices, "given");
  answer.input("device_memory_bytes", question.device_memory_bytes, question.device_source,
               PredictedUnit::bytes);
  answer.input("device_bytes_per_second", question.device_bytes_per_second, question.device_source,
               PredictedUnit::bytes_per_second);
  if (question.device_flops > 0.0)
    answer.input("device_flops", question.device_flops, question.device_source,
                 PredictedUnit::flops_per_second);
  answer.input("weight_bytes", question.weight_bytes, "bytes per parameter");
  answer.input("cache_bytes", question.cache_bytes, "bytes per number");
  answer.input("context", question.context, "given");
  answer.input("batch", question.batch, "given");
  answer.what = "least time of a token, for each sequence";
  answer.unit = PredictedUnit::seconds;
  answer.value = answer.low = step.seconds();
  answer.high = answer.value / 0.6;  // good servers reach 60 % of the memory's bandwidth and more
  answer.part("weights_read_s", step.weights_s, PredictedUnit::seconds);
  answer.part("cache_read_s", step.cache_s, PredictedUnit::seconds);
  answer.part("compute_s", step.compute_s, PredictedUnit::seconds);
  answer.part("weights_bytes", weights);
  answer.part("kv_cache_bytes", question.batch * question.context * a_token);
  answer.part("kv_cache_bytes_per_token", a_token);
  answer.part("kv_cache_tokens", (room - weights) / a_token, PredictedUnit::count);
  answer.part("largest_batch", std::floor(sequences), PredictedUnit::count);
  answer.part("tokens_per_second", question.batch / answer.value, PredictedUnit::tokens_per_second);
  if (question.bound_s > 0.0)
    answer.part("largest_batch_within_bound", largest_batch(question, sequences),
                PredictedUnit::count);
  if (question.drafted > 0.0) {
    const double tokens = tokens_per_verification(question.accepted, question.drafted);
    answer.part("speculative_gain", tokens / (question.drafted * question.draft_cost + 1.0),
                PredictedUnit::ratio);
  }
  if (question.batch > sequences)
    answer.notes.push_back(fmt::format("the caches of {:g} sequences do not fit: at most {:.0f}",
                                       question.batch, std::floor(sequences)));
  answer.notes.push_back(
      "low is the physical floor; high: at 60 % of the memory's bandwidth; launches, sampling and "
      "communication between devices come on top");
  answer.formula =
      "max((weights read + sequences x context x cache per token) / bandwidth, sequences x (2 x "
      "active parameters + attention) / peak)";
  answer.sources = {"Pope et al. 2022, arXiv 2211.05102",
                    "speculative decoding: Leviathan et al. 2023, arXiv 2211.17192"};
  return answer;
}

namespace {

constexpr double kMostReplicas = 20'000;

/// The chance that fewer than `needed` of `replicas` are up.
double shortfall_of(double replicas, double needed, double up) {
  double chance = 0.0;
  for (double k = 0; k < needed; ++k)
    chance +=
        std::exp(std::lgamma(replicas + 1) - std::lgamma(k + 1) - std::lgamma(replicas - k + 1) +
                 k * std::log(up) + (replicas - k) * std::log1p(-up));
  return chance;
}

}  // namespace

Prediction predict_fleet(const FleetQuestion& question) {
  if (!(question.replica_tokens_per_second > 0.0) || !(question.tokens_per_second > 0.0))
    throw Error(ErrorKind::input, "the load or the rate of a replica is missing",
                "give --load and --replica-rate in tokens per second");
  const double needed =
      std::ceil(question.tokens_per_second / (question.replica_tokens_per_second * question.use));
  if (needed > kMostReplicas)
    throw Error(ErrorKind::input,
                fmt::format("the load needs {:.0f} replicas; at most {:.0f} are computed", needed,
                            kMostReplicas),
                "ask for a part of the load");
  double up = 1.0;
  if (question.device_mtbf_s > 0.0) {
    const double mtbf = question.device_mtbf_s / question.replica_devices;
    up = mtbf / (mtbf + question.repair_s);
  }
  double replicas = needed;
  while (up < 1.0 && shortfall_of(replicas, needed, up) > question.shortfall) ++replicas;
  Prediction answer{.question = "fleet"};
  answer.input("load_tokens_per_second", question.tokens_per_second, "given");
  answer.input("replica_tokens_per_second", question.replica_tokens_per_second, "given");
  answer.input("replica_devices", question.replica_devices, "given");
  answer.input("use", question.use, "default: queues grow without bound towards 1");
  answer.input("device_mtbf_s", question.device_mtbf_s, "given", PredictedUnit::seconds);
  answer.input("repair_s", question.repair_s, "given", PredictedUnit::seconds);
  answer.input("shortfall", question.shortfall, "given");
  answer.what = "devices for the load";
  answer.unit = PredictedUnit::count;
  answer.value = replicas * question.replica_devices;
  answer.low = needed * question.replica_devices;
  answer.high = answer.value;
  answer.part("replicas_needed", needed, PredictedUnit::count);
  answer.part("replicas", replicas, PredictedUnit::count);
  answer.part("replica_availability", up, PredictedUnit::ratio);
  answer.part("shortfall", up < 1.0 ? shortfall_of(replicas, needed, up) : 0.0,
              PredictedUnit::ratio);
  answer.formula =
      "replicas = load / (rate x use), and as many more until P(fewer are up) is below the "
      "shortfall; a replica is up M / (M + repair) of the time";
  answer.notes = {"low: without any failure"};
  return answer;
}

}  // namespace bench
