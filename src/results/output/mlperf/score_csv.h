// The table of scores as CSV: the official summarizer's columns in its order, plus a disclaimer.
#pragma once

#include <string>

#include "mlperf/score/submission_score.h"

namespace bench::mlperf {

/// RFC 4180, CRLF line ends.
std::string to_csv(const SubmissionScore& score);

}  // namespace bench::mlperf
