// Checkpoints of all ranks: each rank writes its shard durably (aligned direct I/O to a temporary
// name, sync, rename, sync of the folder), the manifest with all checksums is written last, and
// each rank reads back the shard of another one. Synchronously, and in the background of an
// emulated training. A part of a model's checkpoint is written; the time for the whole one is
// reported only if the part allows an extrapolation.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "probes/storage/checkpoint_async.h"
#include "probes/storage/checkpoint_series.h"
#include "probes/storage/file_system_facts.h"
#include "probes/storage/pitfalls.h"
#include "probes/storage/work_folder.h"

namespace bench {
namespace {

using namespace storage;

constexpr int kKept = 1;        // checkpoints, alongside the one that is being written
constexpr double kSpare = 1.1;  // of the room they need

class CheckpointProbe {
 public:
  explicit CheckpointProbe(State& state)
      : state_(state),
        group_(state.group()),
        base_(folder_or_default(state.text("path"))),
        whole_(checkpoint_bytes(state.text("model"), state.text("state"))) {
    setting_.bytes =
        aligned_up(static_cast<std::size_t>(whole_ * state.number("scale") / group_.size()));
    setting_.chunk_bytes = aligned_up(static_cast<std::size_t>(state.integer("chunk_bytes")));
    setting_.threads = static_cast<int>(state.integer("threads"));
  }

  void run() try {
    const std::string obstacle = agreed(group_, prepare());
    if (!obstacle.empty()) return state_.prevent(obstacle);
    setting_.shared = folder_is_shared(group_, folder_->path());
    // Where ranks do not see each other's files each has a store of its own.
    store_.emplace(setting_.shared ? folder_->path()
                                   : folder_->path() / std::to_string(group_.rank()));
    const std::string no_direct = agreed(group_, no_direct_access(folder_->path()));
    for (const Access access : accesses(no_direct)) measure(access);
    write_facts(no_direct);
    group_.barrier();  // before any rank removes its folder
  } catch (const Error& error) {
    state_.conclude(Status::failed, error.what());
  }

 private:
  std::string prepare() {
    const std::string token = job_token(group_);
    const double bytes = static_cast<double>(setting_.bytes) * group_.size();
    try {
      folder_.emplace(base_, "benchctl-checkpoint-" + token);
      file_system_ = file_system_of(folder_->path());
      const std::string reason =
          no_space(base_, file_system_, bytes * (kKept + 1) * kSpare,
                   fmt::format("{} checkpoints of {}", kKept + 1, format(Bytes{bytes})));
      return reason.empty() ? "" : reason + ": reduce 'scale'";
    } catch (const Error& error) {
      return error.text();
    }
  }

  /// The requested kinds; buffered if direct I/O is not supported, which a skipped series reports.
  std::vector<Access> accesses(const std::string& no_direct) {
    std::vector<Access> all;
    for (const std::string& word : state_.list<std::string>("access"))
      all.push_back(kAccesses.value(word, "kind of access"));
    if (no_direct.empty() || std::erase(all, Access::direct) == 0) return all;
    state_.skip_series(
        "write_time", kind(Access::direct, "sync").params(),
        "direct I/O is not supported here (" + no_direct + "); buffered is measured instead");
    if (all.empty()) all.push_back(Access::buffered);
    return all;
  }

  CheckpointKind kind(Access access, const std::string& mode) const {
    return {state_.text("path"),
            state_.text("model"),
            state_.text("state"),
            state_.number("scale"),
            access,
            mode};
  }

  void measure(Access access) {
    setting_.access = access;
    if (state_.lists("modes", "sync")) measure_sync(kind(access, "sync"));
    if (state_.lists("modes", "async")) {
      remove_all_steps();
      measure_async(state_, kind(access, "async"), *store_, setting_,
                    whole_ / (static_cast<double>(setting_.bytes) * group_.size()));
    }
    remove_all_steps();
  }

  void measure_sync(const CheckpointKind& kind) {
    SyntheticState synthetic(setting_.bytes, setting_.chunk_bytes, setting_.threads,
                             state_.job().seed * 65537 + static_cast<std::uint64_t>(group_.rank()));
    CheckpointRounds rounds;
    rounds.cache_bytes = cache_bytes();
    WorkWatch writing(state_.device(), group_, Worker::threads);
    WorkWatch reading(state_.device(), group_, Worker::threads);
    for (std::int64_t step = 0; step < state_.integer("repeats"); ++step) {
      writing.during([&] {
        rounds.written.push_back(
            write_checkpoint(group_, *store_, step, setting_, synthetic.source()));
      });
      prune(step, kKept);
      if (state_.flag("read_back"))
        reading.during(
            [&] { rounds.read.push_back(read_checkpoint(group_, *store_, step, setting_)); });
    }
    rounds.writing = writing.finish();
    rounds.reading = reading.finish();
    write_rounds(state_, kind, rounds);
    if (!rounds.read.empty()) write_faults(state_, kind, rounds.read);
    write_projections(state_, kind, rounds);
    const Projection whole = projected(state_, rounds, whole_);
    if (whole.time)
      write_interval(state_, rounds.writing, kind, *whole.time, Seconds{0.0});
    else if (state_.has("mtbf_s"))
      state_.skip_series("interval", kind.params(), whole.reason);
  }

  /// The caches that may hold written bytes: the memory of each host for buffered files, and the
  /// lower caches that the user specified.
  double cache_bytes() {
    const double memory = setting_.access == Access::buffered
                              ? total_memory().value_or(0.0) / ranks_on_this_host(group_)
                              : 0.0;
    return total(group_, memory) + static_cast<double>(state_.integer("cache_bytes"));
  }

  void prune(std::int64_t newest, int keep) {
    together(group_, [&] {
      if (!setting_.shared || group_.rank() == 0) store_->prune(newest, keep);
    });
  }
  void remove_all_steps() { prune(-1, 0); }

  void write_facts(const std::string& no_direct) {
    const double written = static_cast<double>(setting_.bytes) * group_.size();
    const std::vector<Pitfall> pitfalls = pitfalls_of(file_system_, {});
    state_.facts("checkpoint",
                 {{"path", base_.string()},
                  {"file_system", to_json(file_system_)},
                  {"ranks", group_.size()},
                  {"written_bytes", written},
                  {"whole_bytes", whole_},
                  {"chunk_bytes", setting_.chunk_bytes},
                  {"shared_folder", setting_.shared},
                  {"read_by", !setting_.shared    ? "the writing rank: the hosts share no folder"
                              : group_.size() > 1 ? "the next rank"
                                                  : "the only rank"},
                  {"no_direct", no_direct.empty() ? Json(nullptr) : Json(no_direct)},
                  {"caches_beneath", state_.integer("cache_bytes") > 0 ? Json("given") : Json()},
                  {"pitfalls", to_json(pitfalls)},
                  {"warnings", texts_of(pitfalls)}});
  }

  State& state_;
  Group& group_;
  std::filesystem::path base_;
  double whole_;
  CheckpointSetting setting_ = {};
  std::optional<WorkFolder> folder_ = {};
  std::optional<CheckpointStore> store_ = {};
  FileSystemFacts file_system_ = {};
};

void run_checkpoint(State& state) { CheckpointProbe(state).run(); }

const Registration checkpoint_probe{"checkpoint", run_checkpoint};

}  // namespace
}  // namespace bench
