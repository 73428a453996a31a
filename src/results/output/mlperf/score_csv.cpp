#include "results/output/mlperf/score_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/disclaimer.h"
#include "core/text.h"
#include "results/output/document/csv_cell.h"

namespace bench::mlperf {
namespace {

std::string csv_line(const std::vector<std::string>& texts) {
  std::vector<std::string> cells;
  for (const std::string& text : texts) cells.push_back(csv_cell(text));
  return join(cells, ",") + "\r\n";
}

std::string count_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

std::optional<std::int64_t> processors(const SystemDescription& system) {
  if (!system.nodes || !system.processors_per_node) return {};
  return *system.nodes * *system.processors_per_node;
}

std::vector<std::string> row_cells(const SubmissionScore& score, const SystemRow& row) {
  const SystemDescription none, &system = row.description ? *row.description : none;
  std::vector<std::string> cells = {score.entries[row.entries.front()].division,
                                    system.status,
                                    row.submitter,
                                    system.system_name.empty() ? row.system : system.system_name,
                                    count_text(system.nodes),
                                    system.processor,
                                    count_text(processors(system)),
                                    system.accelerator,
                                    count_text(system.accelerators()),
                                    system.framework};
  for (const std::string& benchmark : score.benchmarks) {
    const EntryScore* entry = score.entry_at(row, benchmark);
    const bool has = entry != nullptr && std::isfinite(entry->score_minutes);
    cells.push_back(has ? fmt::format("{}", entry->score_minutes) : "");
  }
  cells.push_back(row.system);
  cells.emplace_back(kNotVerified);
  return cells;
}

}  // namespace

std::string to_csv(const SubmissionScore& score) {
  std::vector<std::string> header = {"division",
                                     "availability",
                                     "submitter",
                                     "system",
                                     "number_of_nodes",
                                     "host_processor_model_name",
                                     "host_processors_count",
                                     "accelerator_model_name",
                                     "accelerators_count",
                                     "framework"};
  header.insert(header.end(), score.benchmarks.begin(), score.benchmarks.end());
  header.insert(header.end(), {"system_folder", "note"});
  std::string text = csv_line(header);
  for (const SystemRow& row : score.systems) text += csv_line(row_cells(score, row));
  return text;
}

}  // namespace bench::mlperf
