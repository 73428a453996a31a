// Scores for people and for programs: terminal, CSV, JSON (schemas/report_mlperf_score.json), a
// page.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "mlperf/score/submission_score.h"
#include "results/output/document/text_style.h"

namespace bench::mlperf {

/// Schema: schemas/report_mlperf_score.json.
Json to_json(const SubmissionScore& score);
/// Details for few entries; for many the table and the problems. `details`: always print details.
std::string to_text(const SubmissionScore& score, bool details, const TextStyle& style);
/// The table with the official summarizer's columns and a note; RFC 4180, CRLF line ends.
std::string to_csv(const SubmissionScore& score);
std::string to_html(const SubmissionScore& score);

}  // namespace bench::mlperf
