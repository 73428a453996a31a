// Scores for people and for programs: a report and JSON (schemas/report_mlperf_score.json).
#pragma once

#include <string>

#include "core/json.h"
#include "mlperf/score/submission_score.h"
#include "results/output/document/document.h"

namespace bench::mlperf {

/// "5.2187"; "" if not finite.
std::string format_minutes(double minutes);
/// "1234.5 MJ (342.9 kWh)"; "" if not finite.
std::string format_energy(double joules);
DocumentCell minutes_cell(double minutes);

/// Details of each entry if there are few, or with `details`.
Document to_document(const SubmissionScore& score, bool details);
/// Schema: schemas/report_mlperf_score.json.
Json to_json(const SubmissionScore& score);

}  // namespace bench::mlperf
