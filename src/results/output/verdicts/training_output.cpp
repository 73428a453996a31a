#include "results/output/verdicts/training_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/output/document/plot.h"
#include "results/output/verdicts/band_output.h"
#include "results/output/verdicts/curve_plot.h"
#include "results/output/verdicts/diagnosis_output.h"
#include "results/output/verdicts/profile_output.h"
#include "results/verdicts/training/training_scaling.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

DocumentCell state_cell(TrainingState state) {
  std::string text(to_string(state));
  std::ranges::replace(text, '_', ' ');
  const bool good = state == TrainingState::converged || state == TrainingState::timed_steps;
  const Tone wanting = state == TrainingState::not_run ? Tone::unsure : Tone::bad;
  return {.text = std::move(text), .tone = good ? Tone::good : wanting};
}

DocumentCell rate_cell(double rate) { return numeric(rate, rate_number(rate)); }

DocumentCell duration_cell(double seconds, Tone tone = Tone::none) {
  DocumentCell cell = numeric(seconds, value_text(seconds, Unit::second));
  cell.tone = tone;
  return cell;
}

DocumentCell checks_cell(const TrainingRun& run) {
  return {run.checks == 0 ? "none"
                          : fmt::format("{} of {}", run.checks - run.faults.size(), run.checks)};
}

std::vector<StyledText> notes_of(const TrainingRun& run) {
  std::vector<StyledText> notes;
  if (std::string words = resumed_words(run); !words.empty())
    notes.emplace_back(std::move(words), Tone::unsure);
  if (std::string why = own_reason(run); !why.empty())
    notes.emplace_back(std::move(why), Tone::unsure);
  for (const TrainingFault& fault : run.faults)
    notes.emplace_back("check failed: " + fault_words(fault), Tone::bad);
  return notes;
}

DocumentTable runs_table(const TrainingGroup& group) {
  DocumentTable table{{{"seed"},
                       {"state", false},
                       {"gap"},
                       {"samples"},
                       {"time to train"},
                       {"init", true, 3},
                       {items_word(group) + "/s", true, 1},
                       {"step", true, 4},
                       {"checks", true, 5},
                       {"run", false, kPageOnly}}};
  for (const TrainingRun& run : group.runs) {
    const bool converged = run.state == TrainingState::converged;
    if (auto notes = notes_of(run); !notes.empty())
      table.notes.emplace(table.rows.size(), std::move(notes));
    table.rows.push_back({count_cell(run.seed),
                          state_cell(run.state),
                          numeric(run.quality, number_text(run.quality)),
                          rate_cell(converged ? run.samples_to_target : kNoValue),
                          duration_cell(converged ? run.seconds_to_target : kNoValue, Tone::strong),
                          duration_cell(run.init_seconds),
                          rate_cell(run.items_per_second),
                          duration_cell(run.step_median),
                          checks_cell(run),
                          {run.run}});
  }
  return table;
}

/// A phase without a share overlaps with others.
void add_breakdown(Document& document, const TrainingGroup& group) {
  if (group.breakdown.empty()) return;
  DocumentTable table{{{"phase", false}, {"share"}, {"seconds"}, {"slowest rank"}, {"", false, 1}}};
  double all = 0.0;
  for (const TrainingPhase& phase : group.breakdown) {
    const bool exposed = std::isfinite(phase.share);
    if (exposed) all += phase.seconds;
    table.rows.push_back({{phase_words(phase.phase)},
                          exposed ? share_cell(phase.share) : DocumentCell{"overlapped"},
                          numeric(phase.seconds, fmt::format("{:.3f}", phase.seconds)),
                          {group.setup.ranks > 1 ? phase.slowest_rank : ""},
                          {.bar = phase.share}});
  }
  document.add(Heading{fmt::format("Time breakdown over all runs ({:.3f} s)", all)});
  document.add(std::move(table));
}

void add_memory(Document& document, const TrainingGroup& group) {
  if (group.memory.empty()) return;
  DocumentTable table{{{"memory", false}, {"size"}}};
  double all = 0.0;
  for (const TrainingMemory& memory : group.memory) {
    const bool known = std::isfinite(memory.bytes);
    if (known) all += memory.bytes;
    table.rows.push_back({{memory.label},
                          known ? DocumentCell{format(Bytes{memory.bytes}), memory.bytes}
                                : DocumentCell{"unknown"}});
  }
  document.add(Heading{"Memory per rank (" + format(Bytes{all}) + ")"});
  document.add(std::move(table));
}

void add_group(Document& document, const TrainingGroup& group) {
  document.add(Heading{setup_words(group)});
  document.add(runs_table(group));
  FactList facts;
  for (const auto& [label, words] : group_lines(group)) facts.rows.emplace_back(label, words);
  document.add(std::move(facts));
  const CurvePlot plot = curve_plot(group);
  document.add(Figure{to_svg(plot), "Quality: gap to the best attainable value.",
                      [plot](const TextStyle& style) { return to_text(plot, style); }});
  add_breakdown(document, group);
  add_memory(document, group);
}

DocumentCell efficiency_cell(double value, double low, double high, Tone tone = Tone::none) {
  DocumentCell cell = numeric(value, efficiency_text(value, low, high));
  cell.tone = tone;
  return cell;
}

void add_scaling(Document& document, const TrainingReport& report, const Scaling& scaling) {
  document.add(Heading{scaling.weak ? "Weak scaling" : "Strong scaling"});
  document.add(
      Paragraph{fmt::format("Efficiency t1 / (n tn) relative to {} rank{}. {}", scaling.base,
                            scaling.base == 1 ? "" : "s", scaling.interval)});
  DocumentTable table{{{"ranks"},
                       {"batch"},
                       {items_word(report.groups[scaling.points.front().group]) + "/s"},
                       {"efficiency"},
                       {"time to train"},
                       {"time efficiency"}}};
  for (const ScalingPoint& point : scaling.points) {
    const TrainingGroup& group = report.groups[point.group];
    table.rows.push_back({count_cell(static_cast<std::size_t>(point.ranks)),
                          count_cell(static_cast<std::size_t>(group.setup.batch)),
                          rate_cell(point.items_per_second),
                          efficiency_cell(point.efficiency, point.low, point.high, Tone::strong),
                          duration_cell(group.time.mean),
                          efficiency_cell(point.time_efficiency, point.time_low, point.time_high)});
  }
  document.add(std::move(table));
}

Plot ladder_plot(const TrainingReport& report, const BatchLadder& ladder) {
  const TrainingGroup& first = report.groups[ladder.points.front().group];
  Plot plot{.title = "Throughput over batch size",
            .x_label = "batch",
            .y_label = items_word(first) + "/s",
            .log_x = true};
  PlotSeries rates;
  rates.mark = Mark::line_points;
  for (const BatchPoint& point : ladder.points) {
    rates.x.push_back(static_cast<double>(point.batch));
    rates.y.push_back(point.items_per_second);
  }
  plot.series.push_back(std::move(rates));
  return plot;
}

void add_batch_ladder(Document& document, const TrainingReport& report, const BatchLadder& ladder) {
  document.add(Heading{"Batch sizes"});
  document.add(Paragraph{fmt::format(
      "Each trained on {} samples, in whole steps, with the preset's learning rate; {}.",
      rate_number(static_cast<double>(ladder.samples)), ladder_words(ladder))});
  DocumentTable table{{{"batch"},
                       {"micro-batch", true, 2},
                       {items_word(report.groups[ladder.points.front().group]) + "/s"},
                       {"of the fastest", true, 1},
                       {"memory per rank"},
                       {"samples", true, 2},
                       {"gap"},
                       {"", false}}};
  for (std::size_t i = 0; i < ladder.points.size(); ++i) {
    const BatchPoint& point = ladder.points[i];
    const double most = ladder.fastest ? ladder.points[*ladder.fastest].items_per_second : kNoValue;
    const std::string word = ladder.fastest == i ? "fastest" : ladder.enough == i ? "enough" : "";
    if (!point.reason.empty())
      table.notes.emplace(i, std::vector<StyledText>{{printable(point.reason), Tone::unsure}});
    table.rows.push_back(
        {count_cell(static_cast<std::size_t>(point.batch)),
         point.micro_batch > 0 ? count_cell(static_cast<std::size_t>(point.micro_batch))
                               : DocumentCell{},
         rate_cell(point.items_per_second),
         share_cell(point.items_per_second / most),
         std::isfinite(point.memory) ? DocumentCell{format(Bytes{point.memory}), point.memory}
                                     : DocumentCell{},
         rate_cell(point.samples),
         numeric(point.gap, number_text(point.gap)),
         {word}});
  }
  document.add(std::move(table));
  document.add(Figure{to_svg(ladder_plot(report, ladder)), "What a larger batch brings."},
               Audience::page);
}

bool in_ladder(const TrainingReport& report, std::size_t group) {
  return std::ranges::any_of(report.batch_ladders, [&](const BatchLadder& ladder) {
    return std::ranges::find(ladder.points, group, &BatchPoint::group) != ladder.points.end();
  });
}

/// A ladder has all of its groups in one table; the page has their details too.
void add_groups(Document& document, const TrainingReport& report) {
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    Document part;
    add_group(part, report.groups[i]);
    for (Document::Part& one : part.parts)
      document.add(std::move(one.block), in_ladder(report, i) ? Audience::page : one.audience);
  }
}

/// Those of runs that differ in the seed look alike.
void add_first_profile(Document& document, const TrainingReport& report) {
  if (report.profiles.empty()) return;
  add_profiles(document, {report.profiles.front()});
  if (const std::size_t more = report.profiles.size() - 1; more > 0)
    document.add(Note{fmt::format("{} more jobs have a profile: benchctl profile show {}", more,
                                  report.profiles.front().run)});
}

std::string exit_words(const TrainingReport& report) {
  const bool all_fit = std::ranges::none_of(report.groups, [](const TrainingGroup& group) {
    return std::ranges::any_of(group.runs, &TrainingRun::out_of_memory);
  });
  switch (report.exit_code) {
    case ExitCode::ok:
      return all_fit ? "all requested runs completed"
                     : "all requested runs that fit into memory completed";
    case ExitCode::failed:
      return "a training run missed its target, or a check failed";
    case ExitCode::interrupted:
      return "interrupted";
    case ExitCode::environment:
      return "complete, but the run could not be added to the database";
    default:
      return "some of the requested measurements could not be made";
  }
}

std::string title_of(const TrainingReport& report) {
  return report.groups.empty() && !report.diagnosed.empty()
             ? "Data loader and checkpoint bottlenecks"
             : "Time to train";
}

/// "llm tiny f32: 17.00 s to the target, 3 of 3 runs reached it"
std::string group_words(const TrainingGroup& group) {
  const auto reached =
      std::ranges::count(group.runs, TrainingState::converged, &TrainingRun::state);
  const auto timed =
      std::ranges::count(group.runs, TrainingState::timed_steps, &TrainingRun::state);
  const std::size_t all = group.runs.size();
  if (timed > 0) return fmt::format("{}: {} of {} runs timed", setup_words(group), timed, all);
  const std::string counted = fmt::format("{} of {} runs reached the target", reached, all);
  return std::isfinite(group.time.mean)
             ? fmt::format("{}: {} to train, {}", setup_words(group),
                           value_text(group.time.mean, Unit::second), counted)
             : fmt::format("{}: no time to train, {}", setup_words(group), counted);
}

std::string verdict_word(ExitCode code) {
  if (code == ExitCode::ok || code == ExitCode::environment) return "COMPLETE";
  if (code == ExitCode::failed) return "FAIL";
  return code == ExitCode::interrupted ? "INTERRUPTED" : "NOT MEASURED";
}

Headline headline_of(const TrainingReport& report) {
  constexpr std::size_t kMost = 3;
  Headline headline{verdict_word(report.exit_code), tone_of(report.exit_code), exit_words(report)};
  for (const BatchLadder& ladder : report.batch_ladders)
    headline.reasons.items.push_back({ladder_words(ladder)});
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    if (headline.reasons.items.size() < kMost && !in_ladder(report, i))
      headline.reasons.items.push_back({group_words(report.groups[i])});
  return headline;
}

Cards cards_of(const TrainingReport& report) {
  Cards cards;
  if (report.groups.size() != 1) return cards;
  const TrainingGroup& group = report.groups.front();
  if (std::isfinite(group.time.mean))
    cards.cards.push_back({"Time to train", value_text(group.time.mean, Unit::second),
                           fmt::format("mean of {} runs that reached the target",
                                       std::ranges::count(group.runs, TrainingState::converged,
                                                          &TrainingRun::state))});
  if (std::isfinite(group.items_per_second))
    cards.cards.push_back(
        {"Throughput", rate_number(group.items_per_second), items_word(group) + " per second"});
  return cards;
}

}  // namespace

Document to_document(const TrainingReport& report) {
  Document document{.title = title_of(report)};
  const std::string runs = report.runs.empty() ? "no run was given" : join(report.runs, ", ");
  document.add(headline_of(report)).add(cards_of(report), Audience::page);
  if (report.groups.empty() && report.diagnosed.empty())
    document.add(Paragraph{"These runs contain no training: " + runs + "."});
  for (const BatchLadder& ladder : report.batch_ladders) add_batch_ladder(document, report, ladder);
  add_groups(document, report);
  for (const Scaling& scaling : report.scalings) add_scaling(document, report, scaling);
  const BandCatalogue& bands = BandCatalogue::installed();
  add_bands(document, compare_with_bands(banded_figures(report), bands));
  for (const DiagnosedRun& run : report.diagnosed)
    diagnosis::add_diagnoses(
        document, run.diagnoses,
        report.runs.size() > 1 ? "Bottleneck analysis of run " + run.run : "Bottleneck analysis");
  add_first_profile(document, report);
  for (const std::string& warning : report.warnings) document.add(Note{warning, "warning"});
  document.add(Heading{"Origin", true}, Audience::page)
      .add(Paragraph{"Runs: " + runs}, Audience::page)
      .add(Note{note_of(report)}, Audience::page);
  document.add(Paragraph{note_of(report)}, Audience::terminal);
  document.add(Lines{{{fmt::format("exit code {}: {}", static_cast<int>(report.exit_code),
                                   exit_words(report)),
                       report.exit_code == ExitCode::ok ? Tone::good : Tone::bad}}},
               Audience::terminal);
  return document;
}

}  // namespace bench
