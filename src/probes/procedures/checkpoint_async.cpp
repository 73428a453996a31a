#include "probes/procedures/checkpoint_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "core/order_statistics.h"
#include "core/text.h"
#include "probes/storage/async_training.h"
#include "probes/storage/file_system_facts.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/rank_hosts.h"

namespace bench {
namespace {

using namespace storage;

constexpr double kMostOfMemory = 0.7;
constexpr const char* kNoSteps = "no step of this kind was measured: increase async_steps or shorten step_s";

/// State and copy have to lie in memory; why they cannot, or "".
std::string no_room(Group& group, std::uint64_t bytes) {
  const double needed = 2.0 * static_cast<double>(bytes) * ranks_on_this_host(group);
  const auto available = available_memory();
  std::string reason;
  if (available && needed > kMostOfMemory * *available)
    reason = fmt::format("state and copy of this host's ranks need {}, but only {} of memory is available",
                         format(Bytes{needed}), format(Bytes{*available}));
  return agreed(group, reason);
}

void write_share(State& state, const char* metric, double value, const Json& params) {
  if (std::isnan(value))
    state.skip_series(metric, params, kNoSteps);
  else
    state.value(metric, value, params);
}

}  // namespace

void measure_async(State& state, const CheckpointKind& kind, const CheckpointStore& store,
                   const CheckpointSetting& setting, double to_whole) {
  Group& group = state.group();
  const Json params = kind.params();
  const std::string reason = no_room(group, setting.bytes);
  if (!reason.empty()) return state.skip_series("stall", params, reason);

  std::unique_ptr<AlignedBuffer> memory;
  std::unique_ptr<AsyncCheckpoint> checkpoint;
  together(group, [&] {
    memory = std::make_unique<AlignedBuffer>(setting.bytes);
    fill_blocks(memory->all(), state.job().seed);
    stamp_blocks(memory->all(), 0, state.job().seed * 65537 + group.rank());
    checkpoint = std::make_unique<AsyncCheckpoint>(group, store, setting, memory->all());
  });
  EmulatedStep step(kStepKinds.value(state.text("step"), "kind of step"),
                    Seconds{state.number("step_s")});
  const auto checkpoints = static_cast<int>(state.integer("async_checkpoints"));
  const AsyncTimes times = train_and_save(group, *checkpoint, step, checkpoints,
                                          static_cast<int>(state.integer("async_steps")));
  state.values("stall", times.stall, params, over_ranks(state));
  state.values("back_pressure", times.back_pressure, params, over_ranks(state));
  state.values("drain", times.drain, params, over_ranks(state));
  write_share(state, "step_inflation", times.inflation(), params);
  write_share(state, "overhead", times.overhead(), params);
  write_faults(state, kind, {read_checkpoint(group, store, checkpoints - 1, setting)});
  // Back-pressure is left out: at the interval that this gives there is none.
  double copying = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times.stall.size(); ++i)
    copying = std::min(copying, times.stall[i] - times.back_pressure[i]);
  write_interval(state, kind, Seconds{copying * to_whole}, Seconds{median(times.drain) * to_whole});
}

}  // namespace bench
