// Report of trainings.
#pragma once

#include "results/output/document/document.h"
#include "results/verdicts/training/training_report.h"

namespace bench {

Document to_document(const TrainingReport& report);

}  // namespace bench
