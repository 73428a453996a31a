#include "results/verdicts/profile/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "core/order_statistics.h"
#include "core/text.h"
#include "core/units.h"
#include "results/run/chunk_table.h"
#include "results/run/job_results.h"
#include "results/stats/hodges_lehmann.h"

namespace bench {
namespace {

struct ProfileRecords {
  std::map<std::string, const Chunk*> chunks = {};  // by name
  Json facts = nullptr;                             // of topic "profile"
  Json training = Json::object();
};

std::map<std::string, ProfileRecords> profile_records(const RunRecords& run) {
  std::map<std::string, ProfileRecords> by_job;
  for (const Record& record : run.records) {
    if (const auto* chunk = std::get_if<Chunk>(&record.body))
      by_job[record.job].chunks[chunk->name] = chunk;
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts != nullptr && facts->topic == "profile") by_job[record.job].facts = facts->facts;
    if (facts != nullptr && facts->topic == "training") by_job[record.job].training = facts->facts;
  }
  return by_job;
}

std::vector<ProfileRow> rows_of(const ProfileRecords& records) {
  const ChunkTable table(records.chunks, "profile_operations");
  std::vector<ProfileRow> rows;
  for (std::size_t i = 0; i < table.rows("operation"); ++i)
    rows.push_back({table.text("operation", i), table.text("module", i), table.text("phase", i),
                    table.text("shape", i), table.number("flops", i), table.number("bytes", i),
                    table.number("calls", i), table.number("seconds", i), table.number("low", i)});
  return rows;
}

std::vector<ProfileRow> activities_of(const ProfileRecords& records) {
  const ChunkTable table(records.chunks, "profile_activities");
  std::vector<ProfileRow> rows;
  for (std::size_t i = 0; i < table.rows("activity"); ++i) {
    ProfileRow row{table.text("activity", i), "", ""};
    row.seconds = table.number("seconds", i);
    rows.push_back(row);
  }
  return rows;
}

/// Row indices below 0 stand for activities.
std::vector<ProfileSpan> spans_of(const ProfileRecords& records, const StepProfile& profile) {
  const ChunkTable table(records.chunks, "profile_spans");
  const Json& names = array_field(records.facts, "activities");
  std::vector<ProfileSpan> spans;
  for (std::size_t i = 0; i < table.rows("row"); ++i) {
    const double row = table.number("row", i), step = table.number("step", i);
    const double thread = table.number("thread", i);
    ProfileSpan span{0, 0, "", "", "", table.number("begin", i), table.number("seconds", i)};
    if (!(step >= 0.0 && step < static_cast<double>(profile.steps.size())) ||
        !(std::abs(thread) < 1e6) || !std::isfinite(span.begin) || !(span.seconds >= 0.0))
      continue;
    span.step = static_cast<std::size_t>(step);
    span.thread = static_cast<int>(thread);
    if (row >= 0.0 && row < static_cast<double>(profile.rows.size())) {
      const ProfileRow& of = profile.rows[static_cast<std::size_t>(row)];
      span.name = of.operation;
      span.module = of.module;
      span.phase = of.phase;
    } else if (row <= -1.0 && -1.0 - row < static_cast<double>(names.size())) {
      span.name = text_of(names[static_cast<std::size_t>(-1.0 - row)]);
    } else {
      continue;
    }
    spans.push_back(std::move(span));
  }
  return spans;
}

void add_memory(StepProfile& profile, const ProfileRecords& records) {
  const ChunkTable memory(records.chunks, "profile_memory");
  for (std::size_t i = 0; i < memory.rows("bytes"); ++i)
    profile.memory.push_back(memory.number("bytes", i));
  const ChunkTable owners(records.chunks, "profile_owners");
  for (std::size_t i = 0; i < owners.rows("owner"); ++i)
    profile.owners.push_back({owners.text("owner", i), owners.text("label", i),
                              owners.number("tensors", i), owners.number("bytes", i)});
  const ChunkTable resident(records.chunks, "profile_resident");
  for (std::size_t i = 0; i < resident.rows("step"); ++i)
    profile.resident.push_back({resident.number("step", i), resident.number("bytes", i)});
}

StepProfile profile_of(const RunRecords& run, const JobResult& job, const ProfileRecords& records) {
  StepProfile profile{run.run, job.job.id};
  const auto word = [&](const char* key) {
    return text_field(records.training, key, text_field(job.job.params, key));
  };
  profile.setup = word("workload") + " " + word("preset") + " " + word("dtype");
  profile.threads = number_field(records.facts, "threads");
  profile.step_seconds = number_field(records.facts, "step_seconds");
  profile.unattributed = number_field(records.facts, "unattributed");
  profile.off_processor = number_field(records.facts, "off_processor");
  const Json& peak = object_field(records.training, "peak_flops");
  profile.peak_flops = number_field(peak, "value");
  profile.peak_source = text_field(peak, "source");
  const ChunkTable steps(records.chunks, "profile_steps");
  for (std::size_t i = 0; i < steps.rows("step"); ++i)
    profile.steps.push_back(
        {steps.number("step", i), steps.number("seconds", i), steps.flag("recorded", i)});
  profile.rows = rows_of(records);
  profile.activities = activities_of(records);
  const ChunkTable gaps(records.chunks, "profile_gaps");
  for (std::size_t i = 0; i < gaps.rows("after"); ++i)
    profile.gaps.push_back({gaps.text("after", i), gaps.text("before", i),
                            gaps.number("seconds", i), gaps.number("longest", i)});
  add_memory(profile, records);
  profile.spans = spans_of(records, profile);
  return profile;
}

bool has_time(const ProfileRow& row) { return std::isfinite(row.seconds); }

/// Adds the work and the time of `row` to a sum over different operators.
void add_to(ProfileRow& sum, const ProfileRow& row) {
  const auto add = [](double& to, double value) {
    if (std::isfinite(value)) to = std::isfinite(to) ? to + value : value;
  };
  add(sum.flops, row.flops * row.calls);
  add(sum.bytes, row.bytes * row.calls);
  add(sum.calls, row.calls);
  add(sum.seconds, row.seconds);
}

/// Rows summed by key, in the order of appearance.
template <class Key>
std::vector<ProfileRow> summed(const std::vector<ProfileRow>& rows, const Key& key_of,
                               const std::function<ProfileRow(const ProfileRow&)>& heading_of) {
  std::vector<ProfileRow> sums;
  std::map<decltype(key_of(rows.front())), std::size_t> places;
  for (const ProfileRow& row : rows) {
    if (!has_time(row)) continue;
    const auto [place, added] = places.emplace(key_of(row), sums.size());
    if (added) sums.push_back(heading_of(row));
    add_to(sums[place->second], row);
  }
  return sums;
}

void sort_by_seconds(std::vector<ProfileRow>& rows) {
  std::ranges::stable_sort(rows, std::greater<>(), &ProfileRow::seconds);
}

}  // namespace

std::size_t StepProfile::recorded() const {
  return static_cast<std::size_t>(std::ranges::count(steps, true, &ProfileStep::recorded));
}

std::vector<StepProfile> profiles_of(const RunRecords& run) {
  const auto records = profile_records(run);
  std::vector<StepProfile> profiles;
  for (const JobResult& job : job_results(run)) {
    const auto found = records.find(job.job.id);
    if (found != records.end() && found->second.facts.is_object())
      profiles.push_back(profile_of(run, job, found->second));
  }
  return profiles;
}

ProfileOverhead overhead_of(const StepProfile& profile) {
  std::vector<double> with, without;
  for (const ProfileStep& step : profile.steps)
    if (step.seconds > 0.0 && std::isfinite(step.seconds))
      (step.recorded ? with : without).push_back(std::log(step.seconds));
  if (with.empty() || without.empty()) return {};
  const Shift shift = hodges_lehmann(without, with);
  return {std::expm1(shift.estimate), std::expm1(shift.low), std::expm1(shift.high)};
}

std::vector<ProfileRow> by_operation(const StepProfile& profile) {
  std::vector<ProfileRow> sums = summed(
      profile.rows, [](const ProfileRow& row) { return std::pair(row.operation, row.phase); },
      [](const ProfileRow& row) {
        return ProfileRow{row.operation, "", row.phase};
      });
  for (const ProfileRow& row : profile.activities)
    if (has_time(row)) sums.push_back(row);
  if (std::isfinite(profile.unattributed)) {
    ProfileRow rest{"unattributed", "", ""};
    rest.seconds = profile.unattributed;
    sums.push_back(rest);
  }
  sort_by_seconds(sums);
  return sums;
}

std::vector<ProfileRow> by_module(const StepProfile& profile) {
  return summed(
      profile.rows, [](const ProfileRow& row) { return row.module; },
      [](const ProfileRow& row) {
        return ProfileRow{"", row.module, ""};
      });
}

std::vector<ProfileRow> hottest(const StepProfile& profile, std::size_t most) {
  std::vector<ProfileRow> sums = summed(
      profile.rows,
      [](const ProfileRow& row) {
        return std::tuple(row.operation, row.module, row.phase, row.shape);
      },
      [](const ProfileRow& row) {
        return ProfileRow{row.operation, row.module, row.phase, row.shape};
      });
  sort_by_seconds(sums);
  if (sums.size() > most) sums.resize(most);
  return sums;
}

MemoryGrowth leak_of(const std::vector<ResidentMemory>& resident) {
  constexpr std::size_t kWindows = 4;
  constexpr double kPage = 4096.0, kLeast = 1 << 20, kShare = 0.005;
  if (resident.size() < kFewestReadings) return {};
  const std::size_t first = resident.size() / 4;  // the start of a run allocates
  const std::size_t length = (resident.size() - first) / kWindows;
  std::vector<double> levels, steps;
  for (std::size_t window = 0; window < kWindows; ++window) {
    std::vector<double> bytes, numbers;
    for (std::size_t i = first + window * length; i < first + (window + 1) * length; ++i) {
      if (!std::isfinite(resident[i].bytes) || !std::isfinite(resident[i].step)) return {};
      bytes.push_back(resident[i].bytes);
      numbers.push_back(resident[i].step);
    }
    levels.push_back(median(bytes));
    steps.push_back(median(numbers));
  }
  MemoryGrowth growth{levels.back() - levels.front(), 0.0, steps.back() - steps.front()};
  if (!(growth.steps > 0.0)) return {};
  growth.bytes_per_step = growth.bytes / growth.steps;
  // A buffer that grows once, or from time to time, is not a leak; nor are a few numbers a step.
  for (std::size_t i = 1; i < kWindows; ++i)
    if (levels[i] - levels[i - 1] < 0.15 * growth.bytes) return {};
  const bool large = growth.bytes >= std::max(kLeast, kShare * levels.front());
  return large && growth.bytes_per_step >= kPage ? growth : MemoryGrowth{};
}

namespace {

// What a profile shows, if it takes at least this share of the step.
constexpr double kSlowOperation = 0.01;
constexpr double kIdleGap = 0.01;
constexpr double kInput = 0.05;
constexpr double kOffProcessor = 0.03;
constexpr double kLaneWait = 0.10;
constexpr double kOtherExchange = 0.10;
constexpr double kUnattributed = 0.05;

std::string share_words(double share) { return fmt::format("{:.1f} % of the step", 100.0 * share); }

std::string words_of(const ProfileRow& row) {
  return fmt::format("{} {} of {}", row.operation, row.phase, row.module);
}

/// Operators that do equal work take equal time; one that takes much more is slow for a reason of
/// its own. Judged by lower quartiles: a thread that loses its processor now and then is another
/// cause.
void find_slow_operations(const StepProfile& profile, std::vector<ProfileFinding>& findings) {
  constexpr double kMuchMore = 1.5;
  using Work = std::tuple<std::string, std::string, std::string, double, double>;
  std::map<Work, std::vector<const ProfileRow*>> equals;
  for (const ProfileRow& row : profile.rows)
    if (row.low > 0.0 && std::isfinite(row.flops) && std::isfinite(row.bytes))
      equals[{row.operation, row.phase, row.shape, row.flops, row.bytes}].push_back(&row);
  for (const auto& [work, rows] : equals) {
    if (rows.size() < 2) continue;
    std::vector<double> seconds;
    for (const ProfileRow* row : rows) seconds.push_back(row->low);
    std::ranges::sort(seconds);
    const double usual = seconds[(seconds.size() - 1) / 2];
    const std::string others = rows.size() == 2
                                   ? "the other operation"
                                   : fmt::format("the median of {} operations", rows.size());
    for (const ProfileRow* row : rows) {
      const double share = (row->low - usual) / profile.step_seconds;
      if (row->low < kMuchMore * usual || share < kSlowOperation) continue;
      findings.push_back({"slow_operation",
                          fmt::format("{} takes {:.1f} x as long as {} of equal work: {} is lost",
                                      words_of(*row), row->low / usual, others, share_words(share)),
                          share});
    }
  }
}

void find_gaps(const StepProfile& profile, std::vector<ProfileFinding>& findings) {
  for (const ProfileGap& gap : profile.gaps)
    if (const double share = gap.seconds / profile.step_seconds; share >= kIdleGap)
      findings.push_back(
          {"idle_gap",
           fmt::format("threads do nothing between {} and {}: {}, the longest time {}", gap.after,
                       gap.before, share_words(share), format(Seconds{gap.longest})),
           share});
}

void find_waits(const StepProfile& profile, std::vector<ProfileFinding>& findings) {
  struct Wait {
    const char *activity, *cause, *text;
    double least;
  };
  constexpr Wait kWaits[] = {
      {"data", "input", "threads write the inputs of micro-batches", kInput},
      {"lane_wait", "lane_wait", "threads wait for slower ones of their rank", kLaneWait},
      {"exchange", "exchange", "nothing hides the exchange with other ranks", kOtherExchange},
      {"rank_wait", "rank_wait", "this rank waits for slower ones", kOtherExchange},
      {"offload_wait", "offload_wait", "updates wait for optimizer state on a disk",
       kOtherExchange},
      {"messages", "messages", "stages of the pipeline wait for each other", kOtherExchange}};
  for (const Wait& wait : kWaits)
    for (const ProfileRow& row : profile.activities)
      if (const double share = row.seconds / profile.step_seconds;
          row.operation == wait.activity && share >= wait.least)
        findings.push_back(
            {wait.cause, fmt::format("{}: {}", wait.text, share_words(share)), share});
  if (const double share = profile.unattributed / profile.step_seconds; share >= kUnattributed)
    findings.push_back(
        {"unattributed",
         fmt::format("neither operations nor activities account for {}", share_words(share)),
         share});
  if (const double share = profile.off_processor / profile.step_seconds; share >= kOffProcessor)
    findings.push_back(
        {"off_processor",
         fmt::format("threads with work have no processor: {}; other processes use it, or they "
                     "sleep",
                     share_words(share)),
         share});
}

}  // namespace

std::vector<ProfileFinding> findings_of(const StepProfile& profile) {
  std::vector<ProfileFinding> findings;
  if (profile.step_seconds > 0.0) {
    find_slow_operations(profile, findings);
    find_gaps(profile, findings);
    find_waits(profile, findings);
    std::ranges::stable_sort(findings, std::greater<>(), &ProfileFinding::share);
  }
  if (const MemoryGrowth leak = leak_of(profile.resident); leak.bytes > 0.0)
    findings.push_back(
        {"leak",
         fmt::format("the process grows without end: by {} in {:.0f} steps, {} a step",
                     format(Bytes{leak.bytes}), leak.steps, format(Bytes{leak.bytes_per_step})),
         kNoValue});
  return findings;
}

}  // namespace bench
