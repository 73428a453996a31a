// The first screen of a run: the headline, what stands in its way, what to do, and one line for
// each metric of each case.
#pragma once

#include "results/output/document/document.h"
#include "results/output/run/run_report.h"

namespace bench {

/// "9 jobs (9 ok), 138 series; exit code 0: all measured, no gates"
std::string run_summary_text(const RunReport& report);

/// "FAIL: 1 of 3 gates failed", up to three reasons, and the next step.
Headline headline_of(const RunReport& report);
/// Jobs, undisturbed series and gates.
Cards summary_cards(const RunReport& report);

/// For each case and metric of repeated measurements: how many series, their lowest and highest
/// median, share of the limit, and how many have clean samples. Nothing is picked out.
void add_overview(Document& document, const RunReport& report);

/// "gemm: throughput ({"m": 512}) >= 100 GFLOP/s: 98 GFLOP/s [97, 99]; reason"
std::string gate_line(const GateResult& result, const RunReport& report);

}  // namespace bench
