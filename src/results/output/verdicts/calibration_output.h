// How often judgements of one's own histories are wrong, for people and for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/regression/calibration.h"

namespace bench {

std::string to_text(const Calibration& calibration, const TextStyle& style);
/// A self-contained page.
std::string to_html(const Calibration& calibration);
Json to_json(const Calibration& calibration);

}  // namespace bench
