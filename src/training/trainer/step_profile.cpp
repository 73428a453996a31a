#include "training/trainer/step_profile.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

#include "core/order_statistics.h"

namespace bench::training {
namespace {

constexpr std::int64_t kWarmUp = 2;         // steps that fill caches and touch memory
constexpr std::size_t kMostRecorded = 100;  // steps
constexpr std::size_t kMostTimelines = 16;  // steps whose spans are kept, besides the slowest
constexpr std::size_t kMostGaps = 12;
constexpr std::size_t kMostOwners = 12;
constexpr std::size_t kMostSpans = 40'000;  // of the two steps that are reported
constexpr std::size_t kMostResident = 1024;

/// "layer3" of "layer3.wqkv"; a name of one word is a module of its own.
std::string module_of(const std::string& parameter) {
  const auto end = parameter.rfind('.');
  return end == std::string::npos ? parameter : parameter.substr(0, end);
}

/// By node. An operator without parameters belongs to the module before it.
std::vector<std::string> modules_of(const Graph& graph) {
  std::vector<std::string> modules;
  std::string module = "inputs";
  for (const Node& node : graph.nodes()) {
    for (const int input : node.inputs)
      if (graph.tensor(input).kind == Tensor::Kind::parameter) {
        module = module_of(graph.tensor(input).name);
        break;
      }
    modules.push_back(module);
  }
  return modules;
}

/// Of the process, without the pages of files that it maps; 0 if it is unknown.
std::int64_t anonymous_memory() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0, of_files = 0;
  if (!(file >> all >> resident >> of_files)) return 0;
  return (resident - of_files) * sysconf(_SC_PAGESIZE);
}

Seconds first_begin(const StepTimelines& timelines) {
  Seconds first{std::numeric_limits<double>::infinity()};
  for (const Timeline& lane : timelines.lanes)
    if (!lane.spans().empty()) first = std::min(first, lane.spans().front().begin);
  return first;
}

Seconds last_end(const StepTimelines& timelines) {
  Seconds last{-std::numeric_limits<double>::infinity()};
  for (const Timeline& lane : timelines.lanes)
    if (!lane.spans().empty()) last = std::max(last, lane.spans().back().end);
  return last;
}

}  // namespace

StepProfiler::StepProfiler(const Plan& plan, int threads, int micro_batches)
    : plan_(plan),
      threads_(threads),
      micro_batches_(micro_batches),
      modules_(modules_of(*plan.graph)) {
  now_.lanes.resize(static_cast<std::size_t>(threads));
}

bool StepProfiler::is_sampled() const {
  return seen_ >= kWarmUp && recorded_.size() < kMostRecorded;
}

StepTimelines* StepProfiler::begin_step(std::int64_t number) {
  number_ = number;
  // On, off, off, on: a machine that becomes slower or faster does so for both kinds.
  const std::int64_t turn = (seen_ - kWarmUp) % 4;
  recording_ = is_sampled() && (turn == 0 || turn == 3);
  if (!recording_) return nullptr;
  now_.clear();
  return &now_;
}

void StepProfiler::end_step(Seconds begin, Seconds end) {
  if (is_sampled()) steps_.push_back({number_, (end - begin).value, recording_});
  if (recording_) {
    RecordedStep step;
    step.number = number_;
    step.begin = begin;
    step.end = end;
    account(step);
    keep(std::move(step));
  }
  if (seen_ % resident_every_ == 0) note_resident_memory();
  ++seen_;
}

void StepProfiler::note_resident_memory() {
  if (const std::int64_t bytes = anonymous_memory(); bytes > kept_bytes_)
    resident_.push_back({number_, bytes - kept_bytes_});
  if (resident_.size() < kMostResident) return;
  std::vector<StepProfile::Resident> half;
  for (std::size_t i = 0; i < resident_.size(); i += 2) half.push_back(resident_[i]);
  resident_ = std::move(half);
  resident_every_ *= 2;
}

std::size_t StepProfiler::row_of(const TimelineSpan& span) const {
  if (span.activity == Activity::operation) return static_cast<std::size_t>(span.action);
  return plan_.actions.size() + static_cast<std::size_t>(span.activity);
}

void StepProfiler::account_lane(const Timeline& lane, RecordedStep& step) {
  const float share = 1.0f / static_cast<float>(threads_);
  const TimelineSpan* before = nullptr;
  for (const TimelineSpan& span : lane.spans()) {
    step.rows[row_of(span)] += static_cast<float>(span.length().value) * share;
    if (before != nullptr) {
      const double gap = (span.begin - before->end).value;
      Gap& at = step.gaps[{row_of(*before), row_of(span)}];
      at.seconds += gap / threads_;
      at.longest = std::max(at.longest, gap);
    }
    before = &span;
  }
  // A thread that waits for another may sleep.
  double waits = 0.0;
  for (const TimelineSpan& span : lane.spans())
    if (span.activity == Activity::lane_wait || span.activity == Activity::messages)
      waits += span.length().value;
  const Timeline::Running& running = lane.running();
  const double lost = (running.wall - running.processor).value - waits;
  step.off_processor += std::max(0.0, lost) / threads_;
}

/// A step is the work of the threads, from the first that begins to the last that ends, and what
/// the rank does before and after it. What it does meanwhile takes no time of its own.
void StepProfiler::account(RecordedStep& step) {
  step.rows.assign(plan_.actions.size() + kActivities, 0.0f);
  const Seconds first = first_begin(now_), last = last_end(now_);
  double waits = 0.0;
  for (const Timeline& lane : now_.lanes) {
    account_lane(lane, step);
    if (!lane.spans().empty())
      waits += ((last - first) - (lane.spans().back().end - lane.spans().front().begin)).value;
  }
  step.rows[plan_.actions.size() + static_cast<std::size_t>(Activity::lane_wait)] +=
      static_cast<float>(waits / threads_);
  for (const TimelineSpan& span : now_.rank.spans()) {
    if (!(first < last)) {  // no thread did anything
      step.rows[row_of(span)] += static_cast<float>(span.length().value);
      continue;
    }
    const Seconds before = std::min(span.end, first) - std::min(span.begin, first);
    const Seconds after = std::max(span.end, last) - std::max(span.begin, last);
    step.rows[row_of(span)] += static_cast<float>((before + after).value);
  }
  double named = 0.0;
  for (const float seconds : step.rows) named += seconds;
  step.unattributed = step.seconds().value - named;
}

namespace {

Timeline first_spans(const Timeline& whole, std::size_t most) {
  Timeline first;
  for (const TimelineSpan& span : whole.spans()) {
    if (first.spans().size() == most) break;
    first.add(span.activity, span.begin, span.end, span.action);
  }
  return first;
}

std::int64_t bytes_of_spans(const StepTimelines& timelines) {
  std::size_t spans = timelines.rank.spans().capacity();
  for (const Timeline& lane : timelines.lanes) spans += lane.spans().capacity();
  return static_cast<std::int64_t>(spans * sizeof(TimelineSpan));
}

}  // namespace

void StepProfiler::keep(RecordedStep step) {
  const std::size_t at = recorded_.size();
  const bool slowest = at == 0 || step.seconds() > recorded_[slowest_].seconds();
  const bool among_first = with_timelines_.size() < kMostTimelines;
  if (slowest || among_first) {
    const std::size_t most = kMostSpans / 2 / (now_.lanes.size() + 1);
    step.timelines.rank = first_spans(now_.rank, most);
    for (const Timeline& lane : now_.lanes) step.timelines.lanes.push_back(first_spans(lane, most));
  }
  if (slowest && at > 0 && slowest_ >= kMostTimelines) recorded_[slowest_].timelines = {};
  if (slowest) slowest_ = at;
  if (among_first) with_timelines_.push_back(at);
  recorded_.push_back(std::move(step));
  kept_bytes_ = bytes_of_spans(now_);
  for (const RecordedStep& one : recorded_)
    kept_bytes_ += bytes_of_spans(one.timelines) +
                   static_cast<std::int64_t>(one.rows.size() * sizeof(float) +
                                             one.gaps.size() * 2 * sizeof(std::pair<Rows, Gap>));
}

std::string StepProfiler::words_of(std::size_t row) const {
  if (row >= plan_.actions.size())
    return std::string(to_string(static_cast<Activity>(row - plan_.actions.size())));
  const Action& action = plan_.actions[row];
  const auto node = static_cast<std::size_t>(action.node);
  return std::string(plan_.graph->nodes()[node].op->name()) + " " +
         std::string(to_string(action.phase)) + " of " + modules_[node];
}

/// The half of the recorded steps whose times are nearest to the median: their mean is robust, and
/// means of parts add up to that of the whole.
std::vector<std::size_t> StepProfiler::typical_steps() const {
  std::vector<std::size_t> order(recorded_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return recorded_[i].seconds().value; });
  const auto quarter = static_cast<std::ptrdiff_t>(order.size() / 4);
  return {order.begin() + quarter, order.end() - quarter};
}

double StepProfiler::mean_of_row(std::size_t row, const std::vector<std::size_t>& steps) const {
  double sum = 0.0;
  for (const std::size_t step : steps) sum += recorded_[step].rows[row];
  return sum / static_cast<double>(steps.size());
}

double StepProfiler::low_of_row(std::size_t row) const {
  std::vector<double> seconds;
  for (const RecordedStep& step : recorded_) seconds.push_back(step.rows[row]);
  return quantile(seconds, 0.25);
}

void StepProfiler::add_times(StepProfile& profile) const {
  const std::vector<std::size_t> steps = typical_steps();
  const std::size_t actions = plan_.actions.size();
  for (std::size_t i = 0; i < actions; ++i) {
    const Action& action = plan_.actions[i];
    const auto at = static_cast<std::size_t>(action.node);
    const Node& node = plan_.graph->nodes()[at];
    profile.operations.push_back({std::string(node.op->name()), modules_[at], action.phase,
                                  plan_.graph->tensor(node.output).shape.text(),
                                  flops_of(action, *node.op), traffic_of(action), micro_batches_,
                                  mean_of_row(i, steps), low_of_row(i)});
  }
  for (std::size_t i = 1; i < kActivities; ++i)
    if (const double seconds = mean_of_row(actions + i, steps); seconds > 0.0)
      profile.activities.push_back({std::string(to_string(static_cast<Activity>(i))), seconds});
  const auto share = 1.0 / static_cast<double>(steps.size());
  for (const std::size_t step : steps) {
    profile.step_seconds += recorded_[step].seconds().value * share;
    profile.unattributed += recorded_[step].unattributed * share;
    profile.off_processor += recorded_[step].off_processor * share;
  }
}

std::vector<ProfiledGap> StepProfiler::largest_gaps() const {
  std::map<Rows, Gap> by_rows;
  const std::vector<std::size_t> typical = typical_steps();
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    const bool counts = std::ranges::find(typical, i) != typical.end();
    for (const auto& [rows, gap] : recorded_[i].gaps) {
      Gap& sum = by_rows[rows];
      if (counts) sum.seconds += gap.seconds / static_cast<double>(typical.size());
      sum.longest = std::max(sum.longest, gap.longest);
    }
  }
  std::map<std::pair<std::string, std::string>, Gap> by_words;
  for (const auto& [rows, gap] : by_rows) {
    Gap& sum = by_words[{words_of(rows.first), words_of(rows.second)}];
    sum.seconds += gap.seconds;
    sum.longest = std::max(sum.longest, gap.longest);
  }
  std::vector<ProfiledGap> all;
  for (const auto& [words, gap] : by_words)
    all.push_back({words.first, words.second, gap.seconds, gap.longest});
  std::ranges::stable_sort(all, std::greater<>(), &ProfiledGap::seconds);
  if (all.size() > kMostGaps) all.resize(kMostGaps);
  return all;
}

namespace {

/// What each buffer of activations holds: the tensor that is first put there.
std::vector<std::string> owners_of(const Plan& plan) {
  std::vector<std::string> owners(plan.buffers.size());
  const auto put = [&](const Slot& slot, const std::string& what) {
    if (slot.buffer < 0) return;
    std::string& owner = owners[static_cast<std::size_t>(slot.buffer)];
    if (owner.empty()) owner = what;
  };
  const auto maker_of = [&](int tensor) {
    const int producer = plan.graph->tensor(tensor).producer;
    if (producer < 0) return plan.graph->tensor(tensor).name;
    return std::string(plan.graph->nodes()[static_cast<std::size_t>(producer)].op->name());
  };
  for (const Action& action : plan.actions) {
    const Node& node = plan.graph->nodes()[static_cast<std::size_t>(action.node)];
    const std::string name(node.op->name());
    put(action.output, "output of " + name);
    for (const Slot& slot : action.saved) put(slot, "statistics of " + name);
    put(action.workspace, "workspace of " + name);
    put(action.output_gradient, "gradient of " + name);
    for (std::size_t i = 0; i < action.input_gradients.size(); ++i)
      put(action.input_gradients[i], "gradient of " + maker_of(node.inputs[i]));
  }
  return owners;
}

}  // namespace

void StepProfiler::add_memory(StepProfile& profile) const {
  for (int i = 0; i < static_cast<int>(plan_.actions.size()); ++i) {
    const LabelBytes bytes = plan_.bytes_in_use(i);
    profile.memory.push_back(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}));
  }
  if (profile.memory.empty()) return;
  const auto peak =
      static_cast<int>(std::ranges::max_element(profile.memory) - profile.memory.begin());
  const std::vector<std::string> owners = owners_of(plan_);
  std::map<std::pair<std::string, std::string>, ProfiledOwner> by_name;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.arena != Arena::transient || buffer.first > peak || buffer.last < peak) continue;
    const std::string label(to_string(buffer.label));
    ProfiledOwner& owner = by_name[{owners[i], label}];
    owner.owner = owners[i];
    owner.label = label;
    ++owner.tensors;
    owner.bytes += buffer.bytes;
  }
  for (const auto& [name, owner] : by_name) profile.owners.push_back(owner);
  std::ranges::stable_sort(profile.owners, std::greater<>(), &ProfiledOwner::bytes);
  if (profile.owners.size() > kMostOwners) profile.owners.resize(kMostOwners);
}

void StepProfiler::add_spans(StepProfile& profile) const {
  const auto distance = [&](std::size_t step) {
    return std::abs(recorded_[step].seconds().value - profile.step_seconds);
  };
  std::vector<std::size_t> shown{*std::ranges::min_element(with_timelines_, {}, distance)};
  if (slowest_ != shown.front()) shown.push_back(slowest_);
  const auto actions = static_cast<int>(plan_.actions.size());
  for (const std::size_t at : shown) {
    const RecordedStep& step = recorded_[at];
    const auto same = [&](const StepProfile::Step& s) { return s.number == step.number; };
    const auto index =
        static_cast<int>(std::ranges::find_if(profile.steps, same) - profile.steps.begin());
    const auto add = [&](const Timeline& timeline, int thread) {
      for (const TimelineSpan& span : timeline.spans()) {
        const auto row = static_cast<int>(row_of(span));
        profile.spans.push_back({index, thread, row < actions ? row : -1 - (row - actions),
                                 (span.begin - step.begin).value, span.length().value});
      }
    };
    add(step.timelines.rank, -1);
    for (std::size_t lane = 0; lane < step.timelines.lanes.size(); ++lane)
      add(step.timelines.lanes[lane], static_cast<int>(lane));
  }
}

StepProfile StepProfiler::finish() const {
  StepProfile profile;
  profile.threads = threads_;
  profile.micro_batches = micro_batches_;
  profile.steps = steps_;
  profile.resident = resident_;
  add_memory(profile);
  if (recorded_.empty()) return profile;
  add_times(profile);
  profile.gaps = largest_gaps();
  add_spans(profile);
  return profile;
}

}  // namespace bench::training
