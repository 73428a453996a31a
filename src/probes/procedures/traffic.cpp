// The traffic of a training step without the model: the collectives and messages of a transformer
// that is split over ranks, in their order and at their sizes, with GEMMs between them. What the
// step costs, what of it is computation and each group's traffic alone, and which group the step
// waits for.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clean.h"
#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/memory.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "probes/traffic/trace_matching.h"
#include "probes/traffic/trace_schedule.h"
#include "probes/traffic/traffic_step.h"
#include "training/parallel/training_kernels.h"

namespace bench {
namespace {

TrafficModel model_of(const State& state) {
  TrafficModel model;
  const std::string name = state.text("model");
  if (!name.empty()) model = named_traffic_model(name);
  const auto change = [&](const char* parameter, std::int64_t& size) {
    if (const std::int64_t given = state.integer(parameter); given > 0) size = given;
  };
  const std::int64_t heads = model.heads, width = model.width;
  change("layers", model.layers);
  change("width", model.width);
  change("hidden", model.hidden);
  change("heads", model.heads);
  if (model.heads != heads) model.kv_heads = model.heads;
  change("kv_heads", model.kv_heads);
  change("vocabulary", model.vocabulary);
  change("sequence", model.sequence);
  change("experts", model.experts);
  change("active_experts", model.active_experts);
  change("expert_hidden", model.expert_hidden);
  if (model.heads > 0 && (model.heads != heads || model.width != width)) {
    if (model.width % model.heads != 0)
      throw Error(ErrorKind::input,
                  fmt::format("width {} is not a multiple of {} heads", model.width, model.heads),
                  "use heads that divide width");
    model.head_dim = model.width / model.heads;
  }
  if (model.name.empty()) model.name = "given";
  return model;
}

TrafficSplit traffic_split_of(const State& state) {
  return {.tensor = static_cast<int>(state.integer("tp")),
          .pipeline = static_cast<int>(state.integer("pp")),
          .context = static_cast<int>(state.integer("cp")),
          .expert = static_cast<int>(state.integer("ep")),
          .schedule = training::pipeline_schedule_from(state.text("pipeline_schedule")),
          .sequence_parallel = state.flag("sequence_parallel"),
          .zero = static_cast<int>(state.integer("zero"))};
}

/// Work with what the user gave, which may be refused on one rank alone.
void together_on_input(Group& group, const std::function<void()>& work) {
  try {
    together(group, work);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, error.text());
  }
}

/// Read by rank 0, so that one host alone needs the file.
std::string shared_text(State& state, const std::string& path) {
  std::string text;
  together(state.group(), [&] {
    if (state.group().rank() == 0) text = read_file(path);
  });
  return broadcast_text(state.group(), text);
}

ExpertRouting routing_of(State& state, const TrafficModel& model) {
  const std::int64_t experts = std::max<std::int64_t>(1, model.experts);
  const auto seed = static_cast<std::uint64_t>(state.job().seed);
  if (!state.has("routing_file"))
    return ExpertRouting::drawn(experts, state.number("routing_skew"), seed);
  const std::string path = state.text("routing_file");
  return ExpertRouting::recorded(shared_text(state, path), experts, path);
}

/// The operations of a recorded step: each rank's own if the path has "{rank}", else the same for
/// all.
StepSchedule traced_schedule(State& state, const TrafficSplit& split, const TrafficPlace& place) {
  constexpr std::string_view kRank = "{rank}";
  std::string path = state.text("trace"), text;
  if (const auto at = path.find(kRank); at != std::string::npos) {
    path.replace(at, kRank.size(), std::to_string(place.rank));
    together(state.group(), [&] { text = read_file(path); });
  } else {
    text = shared_text(state, path);
  }
  TraceSettings settings{.dtype = dtype_from(state.text("dtype")),
                         .time_scale = state.number("trace_time_scale")};
  for (const auto& pair : state.list<std::string>("trace_groups")) {
    const auto at = pair.rfind('=');
    settings.groups[pair.substr(0, at)] = kTrafficGroups.value(pair.substr(at + 1), "group");
  }
  StepSchedule schedule;
  Json left_out = Json::object();
  together_on_input(state.group(), [&] {
    const ExecutionTrace trace = parse_execution_trace(text, path);
    for (const auto& [name, count] : trace.left_out) left_out[name] = count;
    schedule = make_trace_schedule(trace, settings, split, place, path);
  });
  if (const std::string why = trace_mismatch(state.group(), schedule, split); !why.empty())
    throw Error(ErrorKind::input, path + ": " + why,
                "give the traces of one step of one job, each rank its own");
  state.facts("traffic_trace", {{"file", path},
                                {"left_out", left_out},
                                {"of_one_rank", schedule.of_one_rank},
                                {"empty", schedule.empty}});
  return schedule;
}

StepSettings step_settings(State& state, bool overlap) {
  StepSettings settings;
  if (state.has("trace"))
    settings.model.name = "trace";
  else
    settings.model = model_of(state);
  settings.split = traffic_split_of(state);
  settings.micro_batch = state.integer("micro_batch");
  settings.micro_batches = state.integer("micro_batches");
  settings.dtype = dtype_from(state.text("dtype"));
  settings.bucket_bytes = state.integer("bucket_bytes");
  settings.overlap = overlap;
  settings.sums_by_library = state.text("sums") == "library";
  settings.context = state.text("context_exchange") == "ring" ? ContextExchange::ring
                                                              : ContextExchange::all_gather;
  if (!state.has("trace")) settings.routing = routing_of(state, settings.model);
  return settings;
}

/// Why these ranks cannot run the schedule; "" if they can.
std::string traffic_obstacle(State& state, const StepSettings& settings,
                             const StepSchedule& schedule, const GroupSizes& sizes) {
  Collectives& collectives = *state.group().collectives();
  const Dtype dtype = settings.dtype;
  if (!TrafficStep::exact(dtype, state.group().size()))
    return fmt::format("sums over {} ranks are not exact in {}, so errors could not be detected",
                       state.group().size(), to_string(dtype));
  for (const TrafficOp& op : schedule.ops) {
    const std::string size = call_obstacle(op, sizes[static_cast<std::size_t>(op.group)], dtype,
                                           settings.sums_by_library);
    if (!size.empty()) return size;
    const bool message = op.kind == TrafficKind::send || op.kind == TrafficKind::receive ||
                         op.kind == TrafficKind::all_to_all;
    if (message && !collectives.sends_messages()) return no_collectives(state.group());
    if (!settings.sums_by_library) continue;
    const bool sums = op.kind == TrafficKind::sum, scatters = op.kind == TrafficKind::scatter_sum;
    if (!sums && !scatters) continue;
    const std::string_view why = collectives.obstacle(
        sums ? CollectiveOp::all_reduce : CollectiveOp::reduce_scatter, dtype, false);
    if (!why.empty()) return std::string(why);
  }
  return "";
}

struct TrafficPart {
  std::string name;
  TrafficSelection what;
  std::optional<TrafficGroup> group = {};  // alone
};

class TrafficSeries {
 public:
  TrafficSeries(State& state, const StepSchedule& schedule, const StepSettings& settings,
                const TrafficPlace& place, TrafficStep& step, ComputeStandIn& computation)
      : state_(state),
        schedule_(schedule),
        place_(place),
        split_(settings.split),
        step_(step),
        computation_(computation),
        size_(static_cast<double>(size_of(settings.dtype))),
        params_({{"model", settings.model.name}}) {
    if (const std::string text = split_text(settings.split, place.copies); !text.empty())
      params_["split"] = text;
  }

  /// The median time of a part in seconds.
  double measure(const TrafficPart& part) {
    Measurement m;
    m.params = with("part", part.name);
    m.work = [&](std::int64_t calls) {
      for (; calls > 0; --calls) step_.run(part.what);
    };
    m.reports = {{"time"}};
    if (part.group) m.reports.push_back({"rate", bytes_of(*part.group)});
    step_.take_times();
    times_.clear();
    m.before_sample = [&] {
      note();
      step_.poison();
    };
    m.verify = [&] { return check(part.what); };
    m.calls = state_.integer("steps");
    m.host_clock = true;
    m.keep_ranks = true;
    const Measured measured = state_.measure(m);
    forget_warm_up(measured);
    conditions_ = all_of({conditions_, measured.conditions});
    right_ = right_ && measured.outcome == Status::ok;
    return measured.median.value;
  }

  // Of the last series, by sample, mean over ranks.

  std::vector<double> seconds_in(TrafficGroup group) {
    return mean_over_ranks([&](const TrafficStep::Times& times) {
      return times.groups[static_cast<std::size_t>(group)];
    });
  }
  std::vector<double> exposed_in(TrafficGroup group) {
    return mean_over_ranks([&](const TrafficStep::Times& times) {
      return times.exposed[static_cast<std::size_t>(group)];
    });
  }
  std::vector<double> seconds_computing() {
    return mean_over_ranks([](const TrafficStep::Times& times) { return times.computation; });
  }
  /// Of its clean samples.
  double median_of(const std::vector<double>& seconds) const {
    return seconds.empty() ? 0.0 : median(representative(seconds, last_.flags));
  }
  Conditions conditions_of_samples() const {
    Conditions conditions = last_.conditions;
    conditions.flags = last_.flags;
    conditions.seconds.assign(last_.flags.size(), 1.0);  // of equal weight
    return conditions;
  }

  /// Seconds of operations by name, medians, mean over ranks.
  Json operations() {
    Json own = Json::object();
    for (std::size_t i = 0; i < step_.operation_names().size(); ++i) {
      std::vector<double> seconds;
      for (const TrafficStep::Times& times : times_) seconds.push_back(times.operations[i]);
      own[step_.operation_names()[i]] = median_of(seconds);
    }
    std::map<std::string, double> means;
    for (const Json& rank : gather_json(state_.group(), own))
      for (const auto& [name, seconds] : rank.items())
        means[name] += seconds.get<double>() / state_.group().size();
    return means;
  }

  Json with(const char* key, const std::string& value) const {
    Json params = params_;
    params[key] = value;
    return params;
  }
  const Json& params() const { return params_; }
  const Conditions& conditions() const { return conditions_; }
  bool right() const { return right_; }
  /// What all ranks pass to the library for one group, the mean over ranks.
  double bytes_of(TrafficGroup group) {
    const int ranks = group_size(group, split_, place_);
    return total(state_.group(), size_ * static_cast<double>(schedule_.payload(group, ranks))) /
           state_.group().size();
  }

 private:
  /// The times of the previous sample, for one step.
  void note() {
    TrafficStep::Times times = step_.take_times();
    if (times.steps == 0) return;
    for (double& seconds : times.groups) seconds /= times.steps;
    for (double& seconds : times.exposed) seconds /= times.steps;
    for (double& seconds : times.operations) seconds /= times.steps;
    times.computation /= times.steps;
    times_.push_back(times);
  }
  /// Samples that warmed up were noted, too.
  void forget_warm_up(const Measured& measured) {
    last_ = measured;
    if (times_.size() > last_.flags.size())
      times_.erase(times_.begin(), times_.end() - static_cast<std::ptrdiff_t>(last_.flags.size()));
  }
  template <class Seconds>
  std::vector<double> mean_over_ranks(const Seconds& of) {
    std::vector<double> seconds;
    for (const TrafficStep::Times& times : times_) seconds.push_back(of(times));
    state_.group().sum(seconds);
    for (double& value : seconds) value /= state_.group().size();
    return seconds;
  }
  Check check(const TrafficSelection& what) {
    note();
    double wrong = step_.wrong(what) + step_.wrong_in_each(what);
    const Check gemm = what.computation ? computation_.check() : Check{};
    if (!gemm.passed()) wrong += 1.0;
    step_.take_times();
    return {"exact sums and messages that the timed step left and of one more, and GEMMs", wrong,
            0.0};
  }

  State& state_;
  const StepSchedule& schedule_;
  const TrafficPlace place_;
  const TrafficSplit split_;
  TrafficStep& step_;
  ComputeStandIn& computation_;
  double size_;
  Json params_;
  std::vector<TrafficStep::Times> times_ = {};  // of each sample of the last series
  Measured last_ = {};
  Conditions conditions_ = {};
  bool right_ = true;
};

/// The groups of the schedules of all ranks: a stage may lack what another has. Of all ranks
/// together only if they exchange more than the numbers of control.
std::vector<TrafficGroup> used_groups(Group& ranks, const StepSchedule& schedule) {
  std::vector<TrafficGroup> used;
  for (const auto& [group, name] : kTrafficGroups.entries)
    if (largest(ranks, schedule.uses(group) ? 1.0 : 0.0) > 0.0) used.push_back(group);
  return used;
}

struct GroupTimes {
  TrafficGroup group;
  double alone = 0.0, in_step = 0.0;
};

/// Of the computation and the traffic alone; nothing if they were not measured.
struct AloneSeconds {
  std::optional<double> computation = {}, traffic = {};
};

void report_exposed(const JudgedSeries& derived, const AloneSeconds& alone, double step,
                    const Json& params) {
  if (!alone.computation) return;
  derived.value("exposed", step - *alone.computation, params);
  if (!alone.traffic) return;
  const double shorter = std::min(*alone.computation, *alone.traffic);
  if (!(shorter > 0.0)) return;
  const double hidden = (*alone.computation + *alone.traffic - step) / shorter;
  derived.value("overlap_ratio", std::clamp(hidden, 0.0, 1.0), params);
}

void report_step(State& state, TrafficSeries& series, std::vector<GroupTimes> groups,
                 const AloneSeconds& alone) {
  const double step = series.measure({"step", TrafficSelection::step()});
  const double computing = series.median_of(series.seconds_computing());
  const Json operations = series.operations();
  if (std::ranges::find(groups, TrafficGroup::all, &GroupTimes::group) == groups.end())
    groups.push_back({TrafficGroup::all});
  std::vector<std::vector<double>> seconds;
  std::vector<double> exposed;
  for (const GroupTimes& one : groups) {
    seconds.push_back(series.seconds_in(one.group));
    exposed.push_back(series.median_of(series.exposed_in(one.group)));
  }
  if (!series.right() || !(step > 0.0)) return;
  const JudgedSeries derived = state.under(series.conditions());
  const Conditions conditions = series.conditions_of_samples();
  const JudgedSeries of_step = state.under(conditions);
  report_exposed(derived, alone, step, series.params());
  Json facts = Json::object();
  std::string_view held_by = "computation";
  double longest = computing;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupTimes& one = groups[i];
    const std::string name(kTrafficGroups.name(one.group));
    const double in_step = series.median_of(seconds[i]);
    of_step.values("group_time", seconds[i], series.with("group", name), "mean");
    derived.value("share", in_step / step, series.with("group", name));
    if (one.alone > 0.0)
      derived.value("interference", in_step / one.alone, series.with("group", name));
    facts[name] = {{"alone_s", one.alone > 0.0 ? Json(one.alone) : Json(nullptr)},
                   {"in_step_s", in_step},
                   {"exposed_s", exposed[i]}};
    if (exposed[i] <= longest) continue;
    longest = exposed[i];
    held_by = kTrafficGroups.name(one.group);
  }
  state.facts("traffic", {{"params", series.params()},
                          {"step_s", step},
                          {"computation_in_step_s", computing},
                          {"groups", facts},
                          {"operations_s", operations},
                          {"held_by", held_by}});
}

/// Ranks of a group that would not make the same calls; "" if all do.
std::string disagreement(const TrafficGroups& groups, const StepSchedule& schedule) {
  std::string why;
  for (const auto& [group, name] : kTrafficGroups.entries) {
    Group& ranks = groups.of(group);
    const auto print = static_cast<double>(fingerprint(schedule, group) >> 11);
    if (largest(ranks, print) != least(ranks, print) && why.empty())
      why = fmt::format("the ranks of a group '{}' have operations of different kinds or sizes",
                        name);
  }
  return agreed(groups.of(TrafficGroup::all), why);
}

ComputeSeconds given_seconds(const State& state) {
  return {state.number("forward_s"), state.number("backward_s"), state.number("update_s")};
}

void measure_traffic(State& state, const TrafficSplit& split, const TrafficPlace& place,
                     const StepSettings& settings, const StepSchedule& schedule, bool shared,
                     training::KernelSet& kernels) {
  const TrafficGroups groups(state.group(), split, place);
  if (const std::string why = disagreement(groups, schedule); !why.empty())
    throw Error(ErrorKind::input, why, "give the traces of one step of one job");
  std::optional<ComputeStandIn> stand_in;
  std::optional<TrafficStep> made;
  together(state.group(), [&] {  // memory may be short on one host
    const auto seed = state.job().seed;
    stand_in.emplace(schedule, kernels, settings.dtype, given_seconds(state), seed);
    made.emplace(schedule, groups, kernels, *stand_in, settings.dtype, settings.sums_by_library,
                 shared, seed);
  });
  ComputeStandIn& computation = *stand_in;
  TrafficStep& step = *made;
  state.facts(
      "traffic_schedule",
      {{"model", settings.model.name},
       {"split", split_text(split, place.copies)},
       {"operations_of_rank_0", schedule.ops.size()},
       {"overlaps", schedule.overlaps},
       {"expert_imbalance", largest(state.group(), schedule.imbalance)},
       {"own_outputs", least(state.group(), step.own_outputs())},
       {"bytes", largest(state.group(), static_cast<double>(step.bytes() + computation.bytes()))}});
  TrafficSeries series(state, schedule, settings, place, step, computation);
  std::vector<GroupTimes> times;
  for (const TrafficGroup group : used_groups(state.group(), schedule)) {
    const std::string name(kTrafficGroups.name(group));
    state.value("bytes", series.bytes_of(group), series.with("group", name));
    times.push_back({group});
    if (state.lists("parts", "groups"))
      times.back().alone = series.measure({name, TrafficSelection::alone(group), group});
  }
  AloneSeconds alone;
  if (state.lists("parts", "traffic"))
    alone.traffic = series.measure({"traffic", TrafficSelection::traffic_alone()});
  if (state.lists("parts", "computation"))
    alone.computation = series.measure({"computation", TrafficSelection::computation_alone()});
  if (state.lists("parts", "step")) report_step(state, series, std::move(times), alone);
}

/// Memory of buffers and matrices before they are made; "" if it suffices.
std::string too_large(State& state, const StepSchedule& schedule, const StepSettings& settings,
                      const GroupSizes& sizes, bool shared) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return "";
  const double need = make_buffer_plan(schedule, sizes, settings.dtype, shared).bytes() +
                      ComputeStandIn::bytes_of(schedule, settings.dtype, given_seconds(state));
  const auto hosts = static_cast<double>(std::max<std::size_t>(1, state.job().hosts.size()));
  const double free = memory->available_bytes() * std::min(1.0, hosts / state.group().size()) * 0.9;
  if (need <= free) return "";
  return fmt::format("needs {} of memory, may use {}", format(Bytes{need}), format(Bytes{free}));
}

void run_traffic(State& state) {
  Group& group = state.group();
  if (group.size() < 2) return state.skip("needs at least two ranks");
  if (state.device().kind() != "host") return state.skip("not on GPUs yet: runs on CPUs over MPI");
  TrainingKernels* kernels = state.device().training_kernels();
  if (kernels == nullptr) return state.skip("this device has no training kernels");
  if (group.collectives() == nullptr) return state.skip(no_collectives(group));
  const bool overlap = state.flag("overlap") && group.collectives()->overlap() != nullptr;
  const StepSettings settings = step_settings(state, overlap);
  const TrafficPlace place = traffic_place(settings.split, group.rank(), group.size());
  StepSchedule schedule;
  if (state.has("trace"))
    schedule = traced_schedule(state, settings.split, place);
  else
    together_on_input(group, [&] { schedule = make_step_schedule(settings, place); });
  const GroupSizes sizes = group_sizes(settings.split, place);
  const bool shared =
      shares_buffers(group, schedule, sizes, settings.dtype, state.integer("buffer_bytes"));
  std::string why = traffic_obstacle(state, settings, schedule, sizes);
  if (why.empty()) why = too_large(state, schedule, settings, sizes, shared);
  if (const std::string reason = agreed(group, why); !reason.empty()) return state.skip(reason);
  kernels->begin(false);
  training::KernelSet set = kernels->make(settings.dtype);
  measure_traffic(state, settings.split, place, settings, schedule, shared, set);
}

const Registration traffic_probe{"traffic", run_traffic};

}  // namespace
}  // namespace bench
