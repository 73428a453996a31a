// A regression report for people and for programs: terminal, JSON (schemas/report_regression.json),
// a page with the histories.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/regression/regression.h"

namespace bench {

/// Shows relevant findings; `all`: also acked ones, noise and improvements.
std::string to_text(const RegressionReport& report, const TextStyle& style, bool all = false);
Json to_json(const RegressionReport& report);
std::string to_html(const RegressionReport& report);

/// "-3.2 % [-4.1, -2.3]"
std::string effect_words(const ChangeFinding& finding);
/// "since RUN", "between RUN and RUN", and until when it lasted.
std::string since_words(const ChangeFinding& finding);
/// "RUN to RUN"; "" if the change is certain to be at one run.
std::string between_words(const ChangeFinding& finding);
/// Hosts with two or more failing findings since one run: "n7: 16 findings since RUN", one line
/// each.
std::vector<std::string> host_summary_lines(const RegressionReport& report);
/// "host1 cuda:3", "fleet cuda".
std::string place_words(const ChangeFinding& finding);
/// "dtype=bf16 m=8192"; "" for none.
std::string params_words(const Json& params);
/// How many were looked at, and how many false ones that makes.
std::string summary_words(const RegressionReport& report);

}  // namespace bench
