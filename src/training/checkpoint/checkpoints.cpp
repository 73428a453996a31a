#include "training/checkpoint/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/error.h"
#include "devices/host_clock.h"
#include "training/engine/content_hash.h"
#include "training/engine/host_bytes.h"
#include "training/sources/mapped_file.h"

namespace bench::training {
namespace {

namespace fs = std::filesystem;

struct FileName {
  std::int64_t step = 0;
  int rank = 0;
  int ranks = 0;
};

std::string text_of(const FileName& name) {
  return fmt::format("step-{:012}.rank-{}-of-{}.ckpt", name.step, name.rank, name.ranks);
}

/// Reads `word` and a number off the front of a text.
template <class Number>
bool take(std::string_view& text, std::string_view word, Number& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

/// For a file name of this format; other files in the folder are ignored.
std::optional<FileName> name_from(const std::string& text) {
  FileName name;
  std::string_view rest = text;
  if (!take(rest, "step-", name.step) || !take(rest, ".rank-", name.rank) ||
      !take(rest, "-of-", name.ranks) || text_of(name) != text)
    return {};
  return name;
}

std::vector<FileName> names_in(const fs::path& folder) {
  std::vector<FileName> names;
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed))
    if (const auto name = name_from(entries->path().filename().string())) names.push_back(*name);
  if (failed)
    throw Error(ErrorKind::environment, "cannot list " + folder.string() + ": " + failed.message());
  return names;
}

/// The name of an unfinished file, if `text` is one.
std::optional<FileName> unfinished_from(std::string text) {
  const std::string_view end = AtomicFile::kUnfinished;
  if (!text.ends_with(end)) return {};
  text.resize(text.size() - end.size());
  return name_from(text);
}

std::string listed(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) text += fmt::format("{},", step);
  return text;
}

std::vector<std::int64_t> from_list(std::string_view text) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; take(text, "", step); text.remove_prefix(1)) steps.push_back(step);
  return steps;
}

constexpr std::size_t kMostBroadcast = std::size_t{1} << 28;
constexpr const char* kUseOther =
    "remove this checkpoint to resume from an older one, choose another folder, or train with the "
    "settings it was saved with";

/// Offset of each parameter and shard: the optimizer's state is an array over them.
std::string layout_of(const DataParallel& training, const Plan& plan) {
  std::string text;
  for (const auto& [tensor, action] : plan.gradient_order) {
    const Slot& slot = plan.gradients[static_cast<std::size_t>(tensor)];
    text += fmt::format("{}@{} ", plan.graph->tensor(tensor).name,
                        plan.buffers[static_cast<std::size_t>(slot.buffer)].offset);
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

CheckpointFolder::CheckpointFolder(fs::path folder, int rank, int ranks)
    : folder_(std::move(folder)), rank_(rank), ranks_(ranks) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot create the folder " + folder_.string() + ": " + failed.message(),
                "choose another checkpoint folder");
}

fs::path CheckpointFolder::file(std::int64_t step) const {
  return folder_ / text_of({step, rank_, ranks_});
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::set<std::int64_t> steps;
  for (const FileName& name : names_in(folder_))
    if (name.rank == rank_ && name.ranks == ranks_) steps.insert(name.step);
  return {steps.begin(), steps.end()};
}

std::vector<std::int64_t> CheckpointFolder::common_steps(Group& group) const {
  std::map<std::int64_t, std::size_t> seen;
  const auto ranks = group.gather(listed(steps()));
  for (const std::string& rank : ranks)
    for (const std::int64_t step : from_list(rank)) ++seen[step];
  std::vector<std::int64_t> common;
  for (const auto& [step, count] : seen)
    if (count == ranks.size()) common.push_back(step);
  return from_list(broadcast_text(group, listed(common)));
}

void CheckpointFolder::prune(std::int64_t newest, int keep, const FileObserver& observer) const {
  std::vector<std::int64_t> gone, kept;
  for (const std::int64_t step : steps()) (step > newest ? gone : kept).push_back(step);
  const auto old = std::max<std::ptrdiff_t>(0, std::ssize(kept) - keep);
  gone.insert(gone.end(), kept.begin(), kept.begin() + old);
  std::vector<fs::path> files;
  for (const std::int64_t step : gone) files.push_back(file(step));
  std::error_code ignored;  // files that cannot be removed only take space
  for (const auto& entry : fs::directory_iterator(folder_, ignored))
    if (const auto name = unfinished_from(entry.path().filename().string());
        name && name->rank == rank_ && name->ranks == ranks_)
      files.push_back(entry.path());
  for (const fs::path& one : files) {
    if (observer) observer("remove");
    fs::remove(one, ignored);
  }
}

std::vector<int> CheckpointFolder::other_sizes() const {
  std::set<int> sizes;
  for (const FileName& name : names_in(folder_))
    if (name.ranks != ranks_) sizes.insert(name.ranks);
  return {sizes.begin(), sizes.end()};
}

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
  const Graph& graph = *replica.plan().graph;
  for (const int id : graph.parameters())
    sections.push_back({"parameter/" + graph.tensor(id).name,
                        replica.weights().view(replica.plan(), id),
                        replica.weights().memory().get()});
  if (!training_.optimizer_is_own()) add_optimizer(sections);
  return sections;
}

void Checkpoints::add_optimizer(std::vector<NamedView>& sections) const {
  const Replica& replica = training_.replica();
  for (const NamedView& state : replica.optimizer_state())
    sections.push_back({"optimizer/" + state.name, state.view, replica.kernels().memory.get()});
}

std::vector<NamedView> Checkpoints::own() const {
  std::vector<NamedView> sections = added_;
  if (training_.optimizer_is_own()) add_optimizer(sections);
  const std::vector<NamedView> exchange = training_.exchange_state();
  sections.insert(sections.end(), exchange.begin(), exchange.end());
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
  Group& group = training_.group();
  const Seconds took{largest(group, (steady_now() - begin).value)};
  return {step, {total(group, bytes)}, took, std::move(notes)};
}

Checkpoints::Done Checkpoints::save(const Json& notes) {
  const Seconds begin = steady_now();
  const std::int64_t step = training_.replica().steps_done();
  agree(reason_of([&] { training_.replica().verify_state(); }), ErrorKind::environment,
        "check the storage of the optimizer's state, or choose another folder for it");
  std::vector<NamedView> sections = own();
  if (training_.replicas().rank() == 0) {
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
  if (!saved.is_object()) refuse("the header's 'identity' is no object");
  Json all = saved;
  all.update(identity_);
  for (const auto& [key, unused] : all.items())
    if (const Json seen = saved.value(key, Json()), own = identity_.value(key, Json()); seen != own)
      refuse(fmt::format("saved by a training with {} {}, but this one has {}", key, excerpt(seen),
                         excerpt(own)));
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
  if (training_.replicas().rank() == 0)
    for (const NamedView& section : shared()) file.read(section);
  if (file.meta().at("step") != step)
    throw Error(ErrorKind::input,
                name + ": the header states step " + excerpt(file.meta().at("step")));
  return file.meta().at("notes");
}

void Checkpoints::spread_shared() {
  if (training_.replicas().size() == 1) return;
  for (const NamedView& section : shared()) {
    const HostBytes tensor(section);
    for (std::span bytes = tensor.all(); !bytes.empty();
         bytes = bytes.subspan(std::min(bytes.size(), kMostBroadcast)))
      training_.replicas().broadcast(bytes.first(std::min(bytes.size(), kMostBroadcast)), 0);
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
  training_.resume();
  return finish(steps.back(), bytes, begin, std::move(notes));
}

}  // namespace bench::training
