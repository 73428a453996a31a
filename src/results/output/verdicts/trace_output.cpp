#include "results/output/verdicts/trace_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

constexpr std::size_t kMostRows = 15;

DocumentCell duration_of(double seconds) { return value_cell(seconds, Unit::second); }

DocumentCell part_cell(double seconds, const TraceBreakdown& of) {
  return share_cell(seconds / of.span);
}

/// One line for each device: the parts add up to its span.
DocumentTable devices_table(const std::vector<TraceBreakdown>& breakdowns) {
  DocumentTable table{{{"of", false},
                       {"span"},
                       {"compute"},
                       {"exposed communication"},
                       {"exposed copies", true, 1},
                       {"idle: not launched"},
                       {"launch", true, 2},
                       {"queued"},
                       {"unknown", true, 3}}};
  for (const TraceBreakdown& one : breakdowns) {
    if (one.device < 0) continue;
    table.rows.push_back({{name_of(one)},
                          duration_of(one.span),
                          part_cell(one.compute, one),
                          part_cell(one.exposed_communication, one),
                          part_cell(one.exposed_copies, one),
                          part_cell(one.idle_host, one),
                          part_cell(one.idle_launch, one),
                          part_cell(one.idle_queued, one),
                          part_cell(one.idle_unknown, one)});
  }
  return table;
}

/// Communication, launches and steps.
DocumentTable waits_table(const std::vector<TraceBreakdown>& breakdowns) {
  DocumentTable table{{{"of", false},
                       {"communication"},
                       {"hidden"},
                       {"launch delay, median"},
                       {"95 %", true, 1},
                       {"steps", true, 2},
                       {"time of a step"},
                       {"waits for data"}}};
  for (const TraceBreakdown& one : breakdowns) {
    const double hidden = 1.0 - one.exposed_communication / one.communication;
    table.rows.push_back({{name_of(one)},
                          one.communication > 0.0 ? duration_of(one.communication) : DocumentCell{},
                          one.communication > 0.0 ? share_cell(hidden) : DocumentCell{},
                          duration_of(one.launch_median),
                          duration_of(one.launch_p95),
                          one.steps > 0 ? count_cell(one.steps) : DocumentCell{},
                          duration_of(one.step_median),
                          std::isfinite(one.loading) ? share_cell(one.loading) : DocumentCell{}});
  }
  return table;
}

std::string_view kind_words(DeviceWorkKind kind) {
  constexpr std::string_view kWords[] = {"compute", "communication", "memory"};
  return kWords[static_cast<std::size_t>(kind)];
}

DocumentTable kernels_table(const TraceBreakdown& one) {
  DocumentTable table{{{"kernel or copy", false},
                       {"kind", false, 1},
                       {"calls"},
                       {"time"},
                       {"of span"},
                       {"mean"},
                       {"longest", true, 2}}};
  table.most = kMostRows;
  for (const TraceRow& row : one.kernels)
    table.rows.push_back({{short_kernel_name(row.name)},
                          {std::string(kind_words(row.kind))},
                          count_cell(row.calls),
                          duration_of(row.seconds),
                          part_cell(row.seconds, one),
                          duration_of(row.seconds / static_cast<double>(row.calls)),
                          duration_of(row.longest)});
  return table;
}

DocumentTable host_table(const TraceBreakdown& one) {
  DocumentTable table{
      {{"operation on the host", false}, {"calls"}, {"own time"}, {"mean"}, {"longest", true, 1}}};
  table.most = kMostRows;
  for (const TraceRow& row : one.operations)
    table.rows.push_back({{row.name},
                          count_cell(row.calls),
                          duration_of(row.seconds),
                          duration_of(row.seconds / static_cast<double>(row.calls)),
                          duration_of(row.longest)});
  return table;
}

Json trace_row_json(const TraceRow& row) {
  return {{"name", row.name},
          {"kind", kind_words(row.kind)},
          {"calls", row.calls},
          {"seconds", row.seconds},
          {"longest", row.longest}};
}

Json rows_json(const std::vector<TraceRow>& rows) {
  Json list = Json::array();
  for (const TraceRow& row : rows) list.push_back(trace_row_json(row));
  return list;
}

Json breakdown_json(const TraceBreakdown& one) {
  return {{"file", one.file},
          {"rank", one.rank ? Json(*one.rank) : Json()},
          {"device", one.device >= 0 ? Json(one.device) : Json()},
          {"span", one.span},
          {"compute", one.compute},
          {"communication", one.communication},
          {"exposed_communication", one.exposed_communication},
          {"exposed_copies", one.exposed_copies},
          {"idle",
           {{"host", one.idle_host},
            {"launch", one.idle_launch},
            {"queued", one.idle_queued},
            {"unknown", one.idle_unknown}}},
          {"launch_median", number_or_null(one.launch_median)},
          {"launch_p95", number_or_null(one.launch_p95)},
          {"steps", one.steps},
          {"step_median", number_or_null(one.step_median)},
          {"loading", number_or_null(one.loading)},
          {"kernels", rows_json(one.kernels)},
          {"operations", rows_json(one.operations)}};
}

/// What was looked for, as far as the traces have what it takes.
std::string nothing_found(const std::vector<TraceBreakdown>& breakdowns) {
  const auto with = [&](const auto& has) { return std::ranges::count_if(breakdowns, has); };
  const bool launches =
      with([](const TraceBreakdown& one) { return std::isfinite(one.launch_median); }) > 0;
  const bool several = with([](const TraceBreakdown& one) { return one.compute > 0.0; }) > 1;
  std::string text = "Nothing stands out: no exposed communication or copies";
  if (launches) text += ", no wait for launches";
  if (several) text += ", no straggler";
  text += ".";
  if (!launches) text += " The traces do not have the launches of their work.";
  return text;
}

}  // namespace

std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kMost = 64;
  std::string text = name.starts_with("void ") ? name.substr(5) : name;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {  // without parameters
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    const bool opens = text[i] == '(' && text.compare(i, 11, "(anonymous ") != 0;
    if (depth == 0 && opens && i > 0) text.resize(i);
  }
  const std::size_t arguments = std::min(text.find('<'), text.size());
  if (const auto colons = text.rfind("::", arguments); colons != std::string::npos)
    text = text.substr(colons + 2);  // without namespaces
  if (text.size() > kMost) text = text.substr(0, kMost - 3) + "...";
  return text.empty() ? name : text;
}

Document to_document(const std::vector<TraceBreakdown>& breakdowns) {
  Document document{.title = "Profile of a trace"};
  ItemList findings;
  for (const TraceFinding& finding : findings_of(breakdowns))
    findings.items.push_back({StyledText{finding.text, Tone::unsure}});
  const bool devices_work =
      std::ranges::any_of(breakdowns, [](const TraceBreakdown& one) { return one.device >= 0; });
  if (breakdowns.empty())
    document.add(Paragraph{"There is no work in these traces."});
  else if (!devices_work)
    document.add(Paragraph{"There is no work on a device in these traces, only on the host."});
  else if (findings.items.empty())
    document.add(Paragraph{nothing_found(breakdowns)});
  document.add(std::move(findings));
  if (DocumentTable devices = devices_table(breakdowns); devices_work)
    document
        .add(Heading{"Time of the device, in parts of the span from its first work to its last"})
        .add(std::move(devices));
  document.add(Heading{"Communication, launches and steps"}).add(waits_table(breakdowns));
  for (const TraceBreakdown& one : breakdowns) {
    if (!one.kernels.empty())
      document.add(Heading{"Kernels of " + name_of(one)}).add(kernels_table(one));
    if (!one.operations.empty())
      document.add(Heading{"Operations on the host, " + name_of(one), true}).add(host_table(one));
  }
  return document;
}

Json to_json(const std::vector<TraceBreakdown>& breakdowns) {
  Json all = Json::array(), findings = Json::array();
  for (const TraceBreakdown& one : breakdowns) all.push_back(breakdown_json(one));
  for (const TraceFinding& finding : findings_of(breakdowns))
    findings.push_back(
        {{"cause", finding.cause}, {"share", finding.share}, {"text", finding.text}});
  return {{"traces", all}, {"findings", findings}};
}

}  // namespace bench
