#include "training/trainer/pretraining.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/dtype.h"
#include "core/error.h"
#include "core/time.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/engine/content_hash.h"
#include "training/engine/host_bytes.h"
#include "training/sources/mapped_file.h"

namespace bench::training {
namespace {

/// Change it when a base of the same identity would be another one.
constexpr int kBaseRevision = 1;
constexpr std::size_t kBroadcastBytes = std::size_t{1} << 28;
constexpr std::int64_t kIdentitySamples = 8;  // that stand for all of a source

/// Tensors of the base's parameters, without values.
std::vector<PretrainedTensor> tensors_of(const Graph& graph) {
  std::vector<PretrainedTensor> tensors;
  for (const int id : graph.parameters()) {
    const Tensor& of = graph.tensor(id);
    tensors.push_back({of.name, of.shape.rows(), of.shape.columns(), of.dtype});
  }
  return tensors;
}

void allocate(std::vector<PretrainedTensor>& tensors) {
  for (PretrainedTensor& tensor : tensors)
    tensor.bytes.resize(static_cast<std::size_t>(tensor.rows * tensor.columns) *
                        size_of(tensor.dtype));
}

std::uint64_t hash_of(const std::vector<PretrainedTensor>& tensors) {
  std::vector<std::uint64_t> words;
  for (const PretrainedTensor& tensor : tensors) words.push_back(content_hash(tensor.bytes));
  return content_hash(std::as_bytes(std::span(words)));
}

/// What decides a base's values, up to rounding: another number of ranks or another processor
/// rounds differently, but any such base serves all.
Json identity_of(Workload& base, Workload& task, const TrainerOptions& options,
                 const std::vector<PretrainedTensor>& tensors) {
  const Recipe& recipe = options.recipe;
  Json shapes = Json::array();
  for (const PretrainedTensor& tensor : tensors)
    shapes.push_back({tensor.name, tensor.rows, tensor.columns});
  const auto samples = [](Workload& workload, Split split) {
    return hash_text(workload.checksum(split, 0, kIdentitySamples));
  };
  return {{"revision", kBaseRevision},
          {"workload", task.name()},
          {"preset", task.preset()},
          {"dtype", to_string(options.dtype)},
          {"batch", recipe.batch},
          {"horizon", recipe.horizon},
          {"schedule", static_cast<int>(recipe.schedule.shape)},
          {"rate", recipe.schedule.peak},
          {"warmup", recipe.schedule.warmup},
          {"floor", recipe.schedule.floor},
          {"last", recipe.schedule.last},
          {"clip", recipe.clip},
          {"optimizer", base.optimizer_options()},
          {"flops_per_sample", base.flops_per_sample()},
          {"training_samples", samples(base, Split::train)},
          {"evaluation_samples", samples(task, Split::evaluation)},
          {"evaluated", task.recipe().evaluation_samples},
          {"parameters", shapes}};
}

std::filesystem::path file_of(const std::filesystem::path& cache, const Json& identity) {
  if (cache.empty()) return {};
  const std::string text = identity.dump();
  return cache / fmt::format("{}-{}-{}.base", identity.at("workload").get<std::string>(),
                             identity.at("preset").get<std::string>(),
                             hash_text(content_hash(std::as_bytes(std::span(text)))));
}

/// Whether the file has this base; `base.problem` says why not if it should. A folder that cannot
/// be read has none.
bool read_base(const std::filesystem::path& path, const Json& identity, Pretrained& base) try {
  std::error_code failed;
  if (path.empty() || !std::filesystem::exists(path, failed)) {
    if (failed) base.problem = path.string() + ": " + failed.message();
    return false;
  }
  const MappedFile mapped(path);
  const CheckpointFile file(mapped.bytes(), path.string());
  const Json& meta = file.meta();
  if (!meta.is_object() || meta.value("identity", Json()) != identity ||
      !meta.value("gap", Json()).is_number() || !meta.value("unadapted", Json()).is_number()) {
    base.problem = path.string() + ": has another recipe";
    return false;
  }
  allocate(base.tensors);
  for (PretrainedTensor& tensor : base.tensors) file.read(tensor.view());
  base.gap = meta.at("gap");
  base.unadapted = meta.at("unadapted");
  return true;
} catch (const Error& error) {
  base.problem = error.what();
  return false;
}

void write_base(const std::filesystem::path& path, const Json& identity, Pretrained& base) try {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::vector<NamedView> sections;
  for (PretrainedTensor& tensor : base.tensors) sections.push_back(tensor.view());
  // Jobs on several hosts may keep the same base at once: each writes a file of its own.
  const std::filesystem::path own = path.string() + fmt::format(".{}-{}", ::getpid(), now_ns());
  write_checkpoint(own, {{"identity", identity}, {"gap", base.gap}, {"unadapted", base.unadapted}},
                   sections);
  std::filesystem::rename(own, path, failed);
  if (failed) {
    std::error_code ignored;
    std::filesystem::remove(own, ignored);
    throw Error(ErrorKind::environment, path.string() + ": " + failed.message());
  }
  base.file = path;
} catch (const Error& error) {
  base.problem = error.what();
}

/// Rank 0's base on every rank; returns whether it has one.
bool share_base(Pretrained& base, bool found, Group& group) {
  const std::string numbers = broadcast_text(
      group, found ? Json{{"gap", base.gap}, {"unadapted", base.unadapted}}.dump() : "");
  if (numbers.empty()) return false;
  const Json shared = Json::parse(numbers);
  base.gap = shared.at("gap");
  base.unadapted = shared.at("unadapted");
  allocate(base.tensors);
  if (group.size() == 1) return true;
  for (PretrainedTensor& tensor : base.tensors)
    for (std::span<std::byte> bytes = tensor.bytes; !bytes.empty();) {
      const std::size_t count = std::min(bytes.size(), kBroadcastBytes);
      group.broadcast(bytes.first(count), 0);
      bytes = bytes.subspan(count);
    }
  return true;
}

void train_base(Workload& base, Workload& task, TrainerOptions options,
                const KernelFactory& kernels, Group& group, Pretrained& made) {
  options.seed = 1;
  options.steps = 0;
  options.checkpoint.clear();
  options.base = nullptr;
  Trainer trainer(base, options, kernels, group);
  RunObserver nobody;
  const TrainingRun run = trainer.run(nobody);
  for (const TrainingCheck& check : run.checks)
    if (!check.held)
      throw Error(
          ErrorKind::internal,
          fmt::format("the training of the base failed its check {}: {}", check.check, check.text),
          "check the hardware, or report this");
  for (const TrainedStep& step : run.steps) made.seconds += step.seconds;
  made.gap = run.curve.back().gap;
  Replica& replica = trainer.replica();
  const std::int64_t samples = trainer.split().micro_batch;
  const Model unadapted = task.unadapted_model(samples, options.dtype, false);
  Evaluator evaluator(task, unadapted, samples, replica, kernels);
  made.unadapted = evaluator.evaluate(task.recipe().evaluation_samples, ModelRanks(group, {})).gap;
  const Weights here = replica.weights().on_host();
  const Graph& graph = *trainer.model().graph;
  allocate(made.tensors);
  const std::vector<int> parameters = graph.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const HostBytes values({"", here.view(replica.plan(), parameters[i])});
    std::ranges::copy(values.all(), made.tensors[i].bytes.begin());
  }
}

}  // namespace

Pretrained pretrain(Workload& base, Workload& task, const TrainerOptions& options,
                    const std::filesystem::path& cache, const KernelFactory& kernels,
                    Group& group) {
  Pretrained made;
  made.tensors = tensors_of(*base.model(1, options.dtype, false).graph);
  const Json identity = identity_of(base, task, options, made.tensors);
  const std::filesystem::path path = file_of(cache, identity);
  const bool first = group.rank() == 0;
  if (share_base(made, first && read_base(path, identity, made), group)) {
    made.read = true;
    made.file = path;
  } else {
    train_base(base, task, options, kernels, group, made);
    if (first && !path.empty()) write_base(path, identity, made);
  }
  made.hash = hash_of(made.tensors);
  return made;
}

void set_base_parameters(const Pretrained& base, Replica& replica) {
  const Graph& graph = *replica.plan().graph;
  for (const int id : graph.parameters()) {
    const Tensor& tensor = graph.tensor(id);
    const View view = replica.weights().view(replica.plan(), id);
    const auto found = std::ranges::find(base.tensors, tensor.name, &PretrainedTensor::name);
    if (tensor.parameter.trainable && found == base.tensors.end()) continue;  // an adapter
    require(found != base.tensors.end() && found->rows == view.rows &&
                found->columns == view.columns && found->dtype == view.dtype,
            "base", "no values for the parameter '" + tensor.name + "' of " + tensor.shape.text());
    const HostBytes into({tensor.name, view, replica.weights().memory().get()},
                         HostBytes::Holds::zeros);
    std::ranges::copy(found->bytes, into.all().begin());
    into.write_back();
  }
}

}  // namespace bench::training
