// Predictions for people and for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/predictions/prediction.h"

namespace bench {

/// "42.3 GB", "3.1 days", "1.2 s".
std::string format_predicted(double value, PredictedUnit unit);

Document to_document(const Prediction& prediction);
/// schemas/report_predict.json
Json to_json(const Prediction& prediction);

}  // namespace bench
