#include "results/output/verdicts/profile_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/fields.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

constexpr std::size_t kHottest = 12;

/// Of all threads of the rank; nothing without work.
double rate_of(double work, const ProfileRow& row, const StepProfile& profile) {
  return work > 0.0 && row.seconds > 0.0 ? work * profile.threads / row.seconds : kNoValue;
}

DocumentCell flops_cell(double work, const ProfileRow& row, const StepProfile& profile) {
  return value_cell(rate_of(work, row, profile), Unit::flop_per_second);
}

DocumentCell peak_cell(double work, const ProfileRow& row, const StepProfile& profile) {
  return share_cell(rate_of(work, row, profile) / profile.peak_flops, 0);
}

DocumentCell bytes_cell(double work, const ProfileRow& row, const StepProfile& profile) {
  return value_cell(rate_of(work, row, profile), Unit::byte_per_second);
}

std::string activity_words(const ProfileRow& row) {
  std::string words = row.operation;
  std::ranges::replace(words, '_', ' ');
  return words;
}

DocumentTable operations_table(const StepProfile& profile) {
  DocumentTable table{{{"operation", false},
                       {"pass", false},
                       {"time"},
                       {"of step"},
                       {"", false, 2},
                       {"calls", true, 3},
                       {"GEMM rate"},
                       {"of peak"},
                       {"traffic", true, 1}}};
  for (const ProfileRow& row : by_operation(profile)) {
    const double share = row.seconds / profile.step_seconds;
    table.rows.push_back({{row.phase.empty() ? activity_words(row) : row.operation},
                          {row.phase},
                          value_cell(row.seconds, Unit::second),
                          share_cell(share),
                          {.bar = share},
                          numeric(row.calls, fmt::format("{:.0f}", row.calls)),
                          flops_cell(row.flops, row, profile),
                          peak_cell(row.flops, row, profile),
                          bytes_cell(row.bytes, row, profile)});
  }
  return table;
}

DocumentTable modules_table(const StepProfile& profile) {
  DocumentTable table{{{"module", false}, {"time"}, {"of step"}, {"", false, 1}, {"GEMM rate"}}};
  table.most = 24;
  for (const ProfileRow& row : by_module(profile)) {
    const double share = row.seconds / profile.step_seconds;
    table.rows.push_back({{row.module},
                          value_cell(row.seconds, Unit::second),
                          share_cell(share),
                          {.bar = share},
                          flops_cell(row.flops, row, profile)});
  }
  return table;
}

DocumentTable hottest_table(const StepProfile& profile) {
  DocumentTable table{{{"operation", false},
                       {"pass", false},
                       {"module", false},
                       {"output", false, 2},
                       {"of step"},
                       {"time of a call"},
                       {"GEMM rate", true, 1},
                       {"traffic", true, 3}}};
  for (const ProfileRow& row : hottest(profile, kHottest))
    table.rows.push_back({{row.operation},
                          {row.phase},
                          {row.module},
                          {row.shape},
                          share_cell(row.seconds / profile.step_seconds),
                          value_cell(row.seconds / row.calls, Unit::second),
                          flops_cell(row.flops, row, profile),
                          bytes_cell(row.bytes, row, profile)});
  return table;
}

DocumentTable gaps_table(const StepProfile& profile) {
  constexpr double kLeast = 0.0005;  // of the step
  DocumentTable table{
      {{"nothing recorded after", false}, {"and before", false}, {"of step"}, {"longest"}}};
  for (const ProfileGap& gap : profile.gaps)
    if (const double share = gap.seconds / profile.step_seconds; share >= kLeast)
      table.rows.push_back(
          {{gap.after}, {gap.before}, share_cell(share, 2), value_cell(gap.longest, Unit::second)});
  return table;
}

DocumentTable owners_table(const StepProfile& profile) {
  DocumentTable table{{{"held at the peak of activations", false},
                       {"use", false},
                       {"tensors"},
                       {"size of a thread"}}};
  for (const ProfileOwner& owner : profile.owners)
    table.rows.push_back({{owner.owner},
                          {owner.label},
                          numeric(owner.tensors, fmt::format("{:.0f}", owner.tensors)),
                          numeric(owner.bytes, format(Bytes{owner.bytes}))});
  return table;
}

std::string overhead_words(const StepProfile& profile) {
  const ProfileOverhead overhead = overhead_of(profile);
  if (!std::isfinite(overhead.share)) return "unknown: too few steps";
  const std::string share = fmt::format("{:+.1f} %", 100.0 * overhead.share);
  return std::isfinite(overhead.low)
             ? fmt::format(
                   "{} [{:+.1f} %, {:+.1f} %] of a step, against steps in between that "
                   "were not recorded",
                   share, 100.0 * overhead.low, 100.0 * overhead.high)
             : share + " of a step; too few steps for an interval";
}

std::string resident_words(const StepProfile& profile) {
  if (profile.resident.empty()) return "unknown";
  const double first = profile.resident.front().bytes, last = profile.resident.back().bytes;
  return fmt::format("{} after step {:.0f}, {} after step {:.0f}", format(Bytes{first}),
                     profile.resident.front().step + 1.0, format(Bytes{last}),
                     profile.resident.back().step + 1.0);
}

std::string peak_words(const StepProfile& profile) {
  if (!std::isfinite(profile.peak_flops)) return "";
  return format(profile.peak_flops, Unit::flop_per_second) + " of a rank: " + profile.peak_source;
}

FactList facts_of(const StepProfile& profile) {
  FactList facts;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) facts.rows.emplace_back(label, text);
  };
  add("typical step",
      fmt::format("{}, from {} recorded steps of {:.0f} threads",
                  format(Seconds{profile.step_seconds}), profile.recorded(), profile.threads));
  add("cost of recording", overhead_words(profile));
  add("peak", peak_words(profile));
  add("off processor",
      fmt::format("{:.1f} % of the step", 100.0 * profile.off_processor / profile.step_seconds));
  add("process memory", resident_words(profile));
  return facts;
}

void add_profile(Document& document, const StepProfile& profile) {
  document.add(Heading{"Profile of " + profile.setup + " (" + profile.job + ")"});
  if (!(profile.step_seconds > 0.0)) {
    document.add(Paragraph{"No step was recorded: the run was too short."});
    return;
  }
  document.add(facts_of(profile));
  ItemList findings;
  for (const ProfileFinding& finding : findings_of(profile))
    findings.items.push_back({StyledText{finding.text, Tone::unsure}});
  const bool leaks_judged = profile.resident.size() >= kFewestReadings;
  if (findings.items.empty())
    document.add(Paragraph{std::string("Nothing stands out: no slow operation, idle gap") +
                           (leaks_judged ? ", wait or leak." : " or wait.")});
  if (!leaks_judged)
    document.add(Paragraph{fmt::format("Growth of memory was not judged: {} of {} steps needed.",
                                       profile.resident.size(), kFewestReadings)});
  document.add(std::move(findings));
  document.add(Heading{"Time of a step by operation"}).add(operations_table(profile));
  document.add(Heading{"By module"}).add(modules_table(profile));
  document.add(Heading{"Longest operations"}).add(hottest_table(profile));
  if (DocumentTable gaps = gaps_table(profile); !gaps.rows.empty())
    document.add(Heading{"Idle gaps"}).add(std::move(gaps));
  document.add(Heading{"Memory"}).add(owners_table(profile));
}

Json profile_row_json(const ProfileRow& row) {
  return {{"operation", row.operation},         {"module", text_or_null(row.module)},
          {"phase", text_or_null(row.phase)},   {"shape", text_or_null(row.shape)},
          {"flops", number_or_null(row.flops)}, {"bytes", number_or_null(row.bytes)},
          {"calls", number_or_null(row.calls)}, {"seconds", number_or_null(row.seconds)},
          {"low", number_or_null(row.low)}};
}

template <class Rows, class ToJson>
Json list_json(const Rows& rows, const ToJson& to_json) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return list;
}

Json profile_json(const StepProfile& profile) {
  const ProfileOverhead overhead = overhead_of(profile);
  const MemoryGrowth leak = leak_of(profile.resident);
  const auto peak = std::ranges::max_element(profile.memory);
  return {{"run", profile.run},
          {"job", profile.job},
          {"setup", profile.setup},
          {"threads", number_or_null(profile.threads)},
          {"recorded_steps", profile.recorded()},
          {"step_seconds", number_or_null(profile.step_seconds)},
          {"unattributed", number_or_null(profile.unattributed)},
          {"off_processor", number_or_null(profile.off_processor)},
          {"peak_flops", number_or_null(profile.peak_flops)},
          {"overhead",
           {{"share", number_or_null(overhead.share)},
            {"low", number_or_null(overhead.low)},
            {"high", number_or_null(overhead.high)}}},
          {"operations", list_json(profile.rows, profile_row_json)},
          {"activities", list_json(profile.activities, profile_row_json)},
          {"gaps", list_json(profile.gaps,
                             [](const ProfileGap& gap) {
                               return Json{{"after", gap.after},
                                           {"before", gap.before},
                                           {"seconds", number_or_null(gap.seconds)},
                                           {"longest", number_or_null(gap.longest)}};
                             })},
          {"activation_peak_bytes", peak == profile.memory.end() ? Json() : number_or_null(*peak)},
          {"owners", list_json(profile.owners,
                               [](const ProfileOwner& owner) {
                                 return Json{{"owner", owner.owner},
                                             {"label", owner.label},
                                             {"tensors", number_or_null(owner.tensors)},
                                             {"bytes", number_or_null(owner.bytes)}};
                               })},
          {"leak_bytes_per_step", leak.bytes > 0.0 ? Json(leak.bytes_per_step) : Json()},
          {"findings", list_json(findings_of(profile), [](const ProfileFinding& finding) {
             return Json{{"cause", finding.cause},
                         {"share", number_or_null(finding.share)},
                         {"text", finding.text}};
           })}};
}

constexpr double kMicroseconds = 1e6;

/// Gives a process or thread of a trace its name.
Json name_event(const char* what, std::size_t process, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json slice(std::size_t process, int thread, const std::string& name, double begin, double seconds) {
  return {{"ph", "X"},
          {"name", name},
          {"pid", process},
          {"tid", thread},
          {"ts", begin * kMicroseconds},
          {"dur", seconds * kMicroseconds}};
}

std::string track_name(int thread) {
  return thread < 0 ? "rank" : fmt::format("thread {}", thread);
}

}  // namespace

void add_profiles(Document& document, const std::vector<StepProfile>& profiles) {
  for (const StepProfile& profile : profiles) add_profile(document, profile);
}

Document to_document(const std::vector<StepProfile>& profiles) {
  Document document{.title = "Profile"};
  if (profiles.empty())
    document.add(Paragraph{
        "This run has no profile: train with --profile, or set the parameter profile to true."});
  add_profiles(document, profiles);
  return document;
}

Json to_json(const std::vector<StepProfile>& profiles) {
  return {{"profiles", list_json(profiles, profile_json)}};
}

Json trace_of(const StepProfile& profile) {
  Json events = Json::array();
  std::set<std::pair<std::size_t, int>> tracks;
  for (const ProfileSpan& span : profile.spans) {
    const std::size_t process = span.step + 1;
    const int thread = span.thread + 2;  // Perfetto leaves out track 0
    if (tracks.emplace(process, thread).second)
      events.push_back(name_event("thread_name", process, thread, track_name(span.thread)));
    Json event = slice(process, thread, span.name, span.begin, span.seconds);
    event["cat"] = span.phase.empty() ? "other" : span.phase;
    if (!span.phase.empty()) event["args"] = {{"module", span.module}, {"pass", span.phase}};
    events.push_back(std::move(event));
  }
  std::set<std::size_t> processes;
  for (const auto& [process, thread] : tracks) {
    if (!processes.insert(process).second) continue;
    const ProfileStep& step = profile.steps[process - 1];
    const std::string name = fmt::format("step {:.0f}", step.number);
    const bool typical = process == profile.spans.front().step + 1;
    events.push_back(
        name_event("process_name", process, 0, name + (typical ? ", typical" : ", slowest")));
    events.push_back(slice(process, 1, name, 0.0, step.seconds));
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
}

}  // namespace bench
