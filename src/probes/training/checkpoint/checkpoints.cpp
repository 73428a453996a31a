#include "probes/training/checkpoint/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/error.h"
#include "probes/host_clock.h"
#include "probes/training/engine/content_hash.h"
#include "probes/training/engine/host_bytes.h"
#include "probes/training/sources/mapped_file.h"

namespace bench::training {
namespace {

constexpr std::size_t kMostBroadcast = std::size_t{1} << 28;
constexpr const char* kUseOther =
    "remove this checkpoint to resume from an older one, choose another folder, or train with the "
    "settings it was saved with";

/// Offset of each parameter and shard: the optimizer's state is an array over them.
std::string layout_of(const DataParallel& training, const Plan& plan) {
  std::string text;
  for (const auto& [tensor, action] : plan.gradient_order) {
    const auto id = static_cast<std::size_t>(tensor);
    const auto buffer = static_cast<std::size_t>(plan.gradients[id].buffer);
    text += fmt::format("{}@{} ", plan.graph->tensors()[id].name, plan.buffers[buffer].offset);
  }
  for (const BlockRange& range : training.owned())
    text += fmt::format("{}-{} ", range.first, range.last);
  return hash_text(content_hash(std::as_bytes(std::span(text))));
}

/// The text of the exception that `work` throws, so that all ranks can agree on it.
template <class Work>
std::string reason_of(const Work& work) try {
  work();
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

Checkpoints::Checkpoints(DataParallel& training, Json identity, CheckpointOptions options)
    : training_(training),
      identity_(std::move(identity)),
      options_(std::move(options)),
      folder_(options_.folder, training.group().rank(), training.group().size()) {}

void Checkpoints::add(std::vector<NamedView> sections) {
  added_.insert(added_.end(), sections.begin(), sections.end());
}

std::vector<NamedView> Checkpoints::shared() const {
  std::vector<NamedView> sections;
  const Replica& replica = training_.replica();
  const auto& tensors = replica.plan().graph->tensors();
  for (std::size_t id = 0; id < tensors.size(); ++id)
    if (tensors[id].kind == Tensor::Kind::parameter)
      sections.push_back({"parameter/" + tensors[id].name,
                          replica.weights().view(replica.plan(), static_cast<int>(id)),
                          replica.weights().memory().get()});
  if (!training_.shards()) add_optimizer(sections);
  return sections;
}

void Checkpoints::add_optimizer(std::vector<NamedView>& sections) const {
  const Replica& replica = training_.replica();
  for (const NamedView& state : replica.optimizer().state())
    sections.push_back({"optimizer/" + state.name, state.view, replica.kernels().memory.get()});
}

std::vector<NamedView> Checkpoints::own() const {
  std::vector<NamedView> sections = added_;
  if (training_.shards()) add_optimizer(sections);
  return sections;
}

Json Checkpoints::meta(const Json& notes) const {
  const Replica& replica = training_.replica();
  return {{"identity", identity_},
          {"layout", layout_of(training_, replica.plan())},
          {"step", replica.steps_done()},
          {"notes", notes}};
}

void Checkpoints::agree(const std::string& reason, ErrorKind kind, const std::string& hint) {
  if (const std::string first = agreed(training_.group(), reason); !first.empty())
    throw Error(kind, first, hint);
}

Checkpoints::Done Checkpoints::finish(std::int64_t step, double bytes, Seconds begin, Json notes) {
  Seconds took = steady_now() - begin;
  training_.group().max(std::span(&took.value, 1));
  training_.group().sum(std::span(&bytes, 1));
  return {step, {bytes}, took, std::move(notes)};
}

Checkpoints::Done Checkpoints::save(const Json& notes) {
  const Seconds begin = steady_now();
  const std::int64_t step = training_.replica().steps_done();
  std::vector<NamedView> sections = own();
  if (training_.group().rank() == 0) {
    const std::vector<NamedView> all = shared();
    sections.insert(sections.begin(), all.begin(), all.end());
  }
  double bytes = 0.0;
  agree(reason_of([&] {
          bytes = static_cast<double>(
              write_checkpoint(folder_.file(step), meta(notes), sections, options_.observer));
        }),
        ErrorKind::environment, "free space there or choose another checkpoint folder");
  folder_.prune(step, options_.keep, options_.observer);
  return finish(step, bytes, begin, notes);
}

void Checkpoints::check(const Json& meta, const std::string& file) const {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::input, file + ": " + what);
  };
  for (const char* key : {"identity", "layout", "step", "notes"})
    if (!meta.contains(key)) refuse(fmt::format("the header has no '{}'", key));
  const Json& saved = meta.at("identity");
  for (const auto& [key, value] : identity_.items())
    if (const Json seen = saved.is_object() ? saved.value(key, Json()) : Json(); seen != value)
      refuse(fmt::format("saved by a training with {} {}, but this one has {}", key, excerpt(seen),
                         excerpt(value)));
  if (meta.at("layout") != layout_of(training_, training_.replica().plan()))
    refuse("saved by a model with other parameters or another sharding");
}

Json Checkpoints::read(std::int64_t step, double& bytes) {
  const std::string name = folder_.file(step).string();
  const MappedFile mapped(name);
  const CheckpointFile file(mapped.bytes(), name);
  bytes = static_cast<double>(mapped.bytes().size());
  check(file.meta(), name);
  for (const NamedView& section : own()) file.read(section);
  if (training_.group().rank() == 0)
    for (const NamedView& section : shared()) file.read(section);
  if (file.meta().at("step") != step)
    throw Error(ErrorKind::input,
                name + ": the header states step " + excerpt(file.meta().at("step")));
  return file.meta().at("notes");
}

void Checkpoints::spread_shared() {
  if (training_.group().size() == 1) return;
  for (const NamedView& section : shared()) {
    const HostBytes tensor(section);
    for (std::span bytes = tensor.all(); !bytes.empty();
         bytes = bytes.subspan(std::min(bytes.size(), kMostBroadcast)))
      training_.group().broadcast(bytes.first(std::min(bytes.size(), kMostBroadcast)), 0);
    tensor.write_back();
  }
}

std::optional<Checkpoints::Done> Checkpoints::load() {
  const Seconds begin = steady_now();
  const std::vector<std::int64_t> steps = folder_.common_steps(training_.group());
  if (steps.empty()) {
    const std::vector<int> others = folder_.other_sizes();
    agree(others.empty()
              ? ""
              : fmt::format("{} has checkpoints of {} ranks, but this job has {}",
                            folder_.path().string(), others.front(), training_.group().size()),
          ErrorKind::input, kUseOther);
    return {};
  }
  Json notes;
  double bytes = 0.0;
  agree(reason_of([&] { notes = read(steps.back(), bytes); }), ErrorKind::input, kUseOther);
  spread_shared();
  training_.replica().set_steps_done(steps.back());
  return finish(steps.back(), bytes, begin, std::move(notes));
}

}  // namespace bench::training
