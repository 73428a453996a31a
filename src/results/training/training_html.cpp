// The report as a page: one file, no scripts, nothing from elsewhere, black on white in print.
#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/acceptance/markup.h"
#include "results/training/curve_plot.h"
#include "results/training/training_output.h"
#include "results/training/training_tables.h"

namespace bench {
namespace {

constexpr const char* kLook = R"(
body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff;max-width:70em;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin:0}h2{font-size:1.2em;margin:1.8em 0 .4em}h3{font-size:1em;margin:1.4em 0 .3em}
table{border-collapse:collapse}th,td{border-bottom:1px solid #ccc;padding:.25em .8em;text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.good{color:#0a6b2b}.bad{color:#b00020}.s{color:#555}svg{max-width:100%;height:auto}
.w{border-left:3px solid #8a5a00;padding-left:.8em}tr{break-inside:avoid}
@media print{body{margin:0;max-width:none;font-size:10pt}}
@page{margin:15mm})";

using Cells = std::vector<std::string>;

/// Cells are text, not markup; the first `names` columns are words, the others numbers.
std::string table_html(const Cells& titles, const std::vector<Cells>& rows, std::size_t names) {
  const auto line = [names](const Cells& cells, const char* tag) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      text +=
          fmt::format("<{0}{1}>{2}</{0}>", tag, i < names ? "" : " class=\"n\"", escaped(cells[i]));
    return text + "</tr>\n";
  };
  std::string body;
  for (const Cells& row : rows) body += line(row, "td");
  return "<table><thead>" + line(titles, "th") + "</thead>\n<tbody>" + body + "</tbody></table>\n";
}

std::string runs_html(const TrainingGroup& group) {
  std::vector<Cells> rows;
  for (const TrainingRun& run : group.runs) {
    const bool converged = run.state == TrainingState::converged;
    std::vector<std::string> why;
    if (std::string own = own_reason(run); !own.empty()) why.push_back(std::move(own));
    for (const TrainingFault& fault : run.faults) why.push_back(fault_words(fault));
    rows.push_back({std::to_string(run.seed), std::string(to_string(run.state)), join(why, "; "),
                    number_text(run.quality), converged ? rate_number(run.samples_to_target) : "",
                    converged ? value_text(run.seconds_to_target, Unit::second) : "",
                    value_text(run.init_seconds, Unit::second), rate_number(run.items_per_second),
                    run.run});
  }
  return table_html({"seed", "", "why", "gap", "samples", "time to train", "init",
                     items_word(group) + "/s", "kept as"},
                    rows, 3);
}

std::string lines_html(const TrainingGroup& group) {
  std::vector<Cells> rows;
  for (const auto& [label, words] : group_lines(group)) rows.push_back({label, words});
  return table_html({"", ""}, rows, 2);
}

std::string parts_html(const TrainingGroup& group) {
  std::vector<Cells> phases, memory;
  for (const TrainingPhase& phase : group.breakdown)
    phases.push_back({phase_words(phase.phase),
                      std::isfinite(phase.share) ? format(phase.share, Unit::ratio) : "beside them",
                      fmt::format("{:.3f}", phase.seconds), phase.slowest_rank});
  for (const TrainingMemory& label : group.memory)
    memory.push_back({label.label, std::isfinite(label.bytes) ? format(Bytes{label.bytes}) : ""});
  std::string text;
  if (!phases.empty())
    text += "<h3>Where the time went</h3>\n" +
            table_html({"part", "share", "seconds", "slowest rank"}, phases, 1);
  if (!memory.empty())
    text += "<h3>Memory of a rank</h3>\n" + table_html({"label", "size"}, memory, 1);
  return text;
}

std::string group_html(const TrainingGroup& group) {
  const std::string drawing = to_svg(curve_plot(group));
  return "<h2>" + escaped(setup_words(group)) + "</h2>\n" + lines_html(group) + "<h3>Runs</h3>\n" +
         runs_html(group) + (drawing.empty() ? "" : "<h3>Quality</h3>\n" + drawing) +
         parts_html(group);
}

std::string scaling_html(const TrainingReport& report, const Scaling& scaling) {
  std::vector<Cells> rows;
  for (const ScalingPoint& point : scaling.points)
    rows.push_back({std::to_string(point.ranks),
                    rate_text(point.items_per_second, report.groups[point.group]),
                    efficiency_text(point.efficiency, point.low, point.high),
                    value_text(report.groups[point.group].time.mean, Unit::second),
                    efficiency_text(point.time_efficiency, point.time_low, point.time_high)});
  return fmt::format("<h2>{} scaling</h2>\n<p>Efficiency t1 / (n tn) against {} rank{}. {}</p>\n",
                     scaling.weak ? "Weak" : "Strong", scaling.base, scaling.base == 1 ? "" : "s",
                     escaped(scaling.interval)) +
         table_html({"ranks", "throughput", "efficiency", "time to train", "efficiency in time"},
                    rows, 0);
}

}  // namespace

std::string to_html(const TrainingReport& report) {
  std::string body = "<h1>Time to train</h1>\n<p class=\"s\">Runs " +
                     escaped(join(report.runs, ", ")) + "</p>\n<p class=\"w\">" +
                     escaped(note_of(report)) + "</p>\n";
  if (report.groups.empty()) body += "<p>There is no training in these runs.</p>\n";
  for (const TrainingGroup& group : report.groups) body += group_html(group);
  for (const Scaling& scaling : report.scalings) body += scaling_html(report, scaling);
  for (const std::string& warning : report.warnings)
    body += "<p class=\"w\">warning: " + escaped(warning) + "</p>\n";
  return html_page("Time to train", kLook, body);
}

}  // namespace bench
