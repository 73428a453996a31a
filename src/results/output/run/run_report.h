// Report of a run: its records and the findings on them. Shown by run_output.h and as JSON.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/json_document.h"
#include "results/run/banded_figures.h"
#include "results/run/run_summary.h"
#include "results/verdicts/diagnosis/diagnosis.h"
#include "results/verdicts/localisation/localisation.h"
#include "results/verdicts/localisation/straggler.h"

namespace bench {

struct RunReport : RunSummary {
  std::vector<Localisation> localisations;      // who makes jobs of several hosts fail or slow
  std::vector<FoundStraggler> stragglers;       // ranks that the others wait for
  std::vector<diagnosis::Diagnosed> diagnoses;  // of trainings, loaders and checkpoints
  std::vector<BandComparison> bands;            // its figures next to published ones
};

RunReport make_run_report(const RunRecords& run);
/// `summary`: of that run.
RunReport make_run_report(const RunRecords& run, RunSummary summary);

/// By schemas/report.json.
Json to_json(const RunReport& report);

/// The text of to_json(), a piece at a time (core/json_document.h).
void write_json(const RunReport& report, const Write& write);

}  // namespace bench
