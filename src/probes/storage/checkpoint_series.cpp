#include "probes/storage/checkpoint_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {
namespace {

constexpr double kFlat = 0.1;        // allowed change of the rate
constexpr double kTimesCache = 2.0;  // bytes to be written over cache size
constexpr std::size_t kFewestChunks = 16;

struct ModelSize {
  const char* name;
  double weights_bytes, full_bytes;
};
// Full states are those of MLPerf Storage v2.0 (model and optimizer as its workload writes them,
// rules section 2.2); weights are 2 bytes per parameter, bf16.
constexpr ModelSize kModels[] = {
    {"8b", 16e9, 105e9}, {"70b", 140e9, 912e9}, {"405b", 810e9, 5.29e12}, {"1t", 2e12, 18e12}};

/// When `bytes` had been written, interpolated between chunks.
double time_at(const std::vector<Progress>& progress, double bytes) {
  double time = 0.0, done = 0.0;
  for (const Progress& next : progress) {
    if (next.bytes >= bytes)
      return time + (next.time.value - time) * (bytes - done) / (next.bytes - done);
    time = next.time.value;
    done = next.bytes;
  }
  return time;
}

}  // namespace

double late_over_before(const std::vector<Progress>& progress) {
  if (progress.size() < kFewestChunks) return std::numeric_limits<double>::quiet_NaN();
  const double all = progress.back().bytes;
  const double half = time_at(progress, all / 2), late = time_at(progress, all * 3 / 4);
  return (late - half) / (progress.back().time.value - late);
}

Projection project(const WrittenAmount& written, double bytes) {
  if (bytes <= written.bytes * (1.0 + 1e-6))  // at least as much was written
    return {Seconds{written.duration.value * bytes / written.bytes}, ""};
  const std::string larger =
      fmt::format("; increase 'scale' ({} written)", format(Bytes{written.bytes}));
  if (std::isnan(written.late_over_before))
    return {{},
            fmt::format("not extrapolated: fewer than {} chunks per rank written{}", kFewestChunks,
                        larger)};
  if (written.bytes < kTimesCache * written.cache_bytes)
    return {{},
            fmt::format("not extrapolated: less than twice the cache of {} written{}",
                        format(Bytes{written.cache_bytes}), larger)};
  if (std::abs(written.late_over_before - 1.0) > kFlat)
    return {{},
            fmt::format("not extrapolated: the rate is not steady (the last quarter ran at {} "
                        "of the rate of the quarter before){}",
                        format(written.late_over_before, Unit::ratio), larger)};
  return {Seconds{written.duration.value * bytes / written.bytes}, ""};
}

CheckpointInterval best_interval(Seconds cost, Seconds mtbf, Seconds restart) {
  const double c = cost.value, m = mtbf.value;
  const double young = std::sqrt(2.0 * c * m);
  const double ratio = c / (2.0 * m);
  const double daly = c < 2.0 * m ? young * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - c : m;
  const double between = daly + c;
  const double lost = (between > 0.0 ? c / between : 0.0) + (daly / 2.0 + restart.value) / m;
  return {{young}, {daly}, std::min(lost, 1.0)};
}

double checkpoint_bytes(const std::string& model, const std::string& state) {
  std::vector<std::string> names;
  for (const ModelSize& size : kModels) {
    if (model == size.name) return state == "full" ? size.full_bytes : size.weights_bytes;
    names.push_back(size.name);
  }
  throw Error(ErrorKind::input,
              "unknown model '" + printable(model) + "'." + did_you_mean(model, names),
              "use one of: " + join(names, ", "));
}

namespace {

struct Target {
  const char* model;
  const char* state;
};
constexpr Target kTargets[] = {{"70b", "weights"}, {"70b", "full"}};

template <class Rounds, class Field>
std::vector<double> column(const Rounds& rounds, Field field) {
  std::vector<double> values;
  for (const auto& one : rounds) values.push_back(field(one));
  return values;
}

/// Of the rank where the rate changed most; NaN if any rank cannot tell.
double steadiness(Group& group, const std::vector<Progress>& progress) {
  const double own = late_over_before(progress);
  double range[2] = {std::isnan(own) ? std::numeric_limits<double>::infinity() : own,
                     std::isnan(own) ? std::numeric_limits<double>::infinity() : -own};
  group.max(range);
  if (std::isinf(range[0])) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(range[0] - 1.0) > std::abs(-range[1] - 1.0) ? range[0] : -range[1];
}

std::string first_fault(const std::vector<ReadCheckpoint>& read) {
  for (const ReadCheckpoint& one : read)
    if (!one.faults.empty()) return one.faults.front();
  return "";
}

}  // namespace

std::string over_ranks(State& state) { return state.group().size() > 1 ? "max" : "rank"; }

Json CheckpointKind::params() const {
  return {{"path", path},
          {"model", model},
          {"state", state},
          {"scale", scale},
          {"access", kAccesses.name(access)},
          {"mode", mode}};
}

void write_rounds(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds) {
  const Json params = kind.params();
  const std::string over = over_ranks(state);
  const auto time = [](const auto& one) { return one.duration.value; };
  const auto rate = [](const auto& one) { return one.bytes / one.duration.value; };
  const auto slowest = [](const auto& one) { return one.slowest_rank; };
  const JudgedSeries writing = state.under(rounds.writing), reading = state.under(rounds.reading);
  writing.values("write_time", column(rounds.written, time), params, over);
  Json against = params;  // as a storage probe of the same folder reports it
  against["pattern"] = "sequential_write";
  writing.values("write_bandwidth", column(rounds.written, rate), against, over);
  writing.values("slowest_rank_write", column(rounds.written, slowest), params, over);
  if (rounds.read.empty()) return;
  const std::vector<double> resident =
      column(rounds.read, [](const ReadCheckpoint& one) { return one.resident; });
  state.values("resident_share", resident, params, over);
  against["pattern"] = "sequential_read";
  const auto kept = still_resident(std::ranges::max(resident));
  if (kept && kind.access == Access::buffered) {
    for (const char* metric : {"read_time", "slowest_rank_read"})
      state.skip_series(metric, params, "not cold: " + kept->text);
    return state.skip_series("read_bandwidth", against, "not cold: " + kept->text);
  }
  reading.values("read_time", column(rounds.read, time), params, over);
  reading.values("read_bandwidth", column(rounds.read, rate), against, over);
  reading.values("slowest_rank_read", column(rounds.read, slowest), params, over);
}

void write_faults(State& state, const CheckpointKind& kind,
                  const std::vector<ReadCheckpoint>& read) {
  double wrong = 0.0;
  for (const ReadCheckpoint& one : read) wrong += static_cast<double>(one.wrong);
  const std::string fault = first_fault(read);
  if (!fault.empty()) state.invalid("corrupt on read back: " + fault);
  state.value("corrupt_chunks", wrong, kind.params(), {},
              Check{"CRC-32C of each chunk, read by another rank", wrong, 0.0});
}

Projection projected(State& state, const CheckpointRounds& rounds, double bytes) {
  std::vector<double> steady;
  for (const WrittenCheckpoint& one : rounds.written)
    steady.push_back(steadiness(state.group(), one.progress));
  WrittenAmount amount;
  amount.bytes = rounds.written.front().bytes;
  amount.duration = {median(
      column(rounds.written, [](const WrittenCheckpoint& one) { return one.duration.value; }))};
  amount.late_over_before = std::ranges::any_of(steady, [](double one) { return std::isnan(one); })
                                ? std::numeric_limits<double>::quiet_NaN()
                                : median(steady);
  amount.cache_bytes = rounds.cache_bytes;
  return project(amount, bytes);
}

void write_projections(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds) {
  std::vector<std::pair<std::string, std::string>> models = {{kind.model, kind.state}};
  for (const Target& target : kTargets)
    if (target.model != kind.model || target.state != kind.state)
      models.emplace_back(target.model, target.state);
  for (const auto& [model, of_state] : models) {
    const double bytes = checkpoint_bytes(model, of_state);
    Json params = kind.params();
    params["of_model"] = model;
    params["of_state"] = of_state;
    const Projection projection = projected(state, rounds, bytes);
    if (!projection.time) {
      state.skip_series("projected_time", params, projection.reason);
      continue;
    }
    std::optional<Limit> limit;
    if (model == "70b")
      limit = Limit{state.number("target_s"), LimitKind::datasheet,
                    fmt::format("target: {:.0f} GB in {:g} s, {:.3g} GB/s", bytes * 1e-9,
                                state.number("target_s"), bytes * 1e-9 / state.number("target_s"))};
    state.under(rounds.writing).value("projected_time", projection.time->value, params, limit);
  }
}

void write_interval(State& state, const Conditions& conditions, const CheckpointKind& kind,
                    Seconds cost, Seconds least) {
  if (!state.has("mtbf_s")) return;
  const JudgedSeries judged = state.under(conditions);
  const CheckpointInterval best =
      best_interval(cost, Seconds{state.number("mtbf_s")}, Seconds{state.number("restart_s")});
  const auto write = [&](const char* by, Seconds interval) {
    Json params = kind.params();
    params["by"] = by;
    judged.value("interval", std::max(interval, least).value, params);
  };
  write("young", best.young);
  write("daly", best.daly);
  judged.value("lost_share", best.lost, kind.params());
}

}  // namespace bench::storage
