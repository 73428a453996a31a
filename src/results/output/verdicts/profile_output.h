// Profiles of trainings: as a report, as JSON (schemas/report_profile.json), and as a trace that
// Perfetto and Chrome read.
#pragma once

#include <vector>

#include "results/output/document/document.h"
#include "results/verdicts/profile/step_profile.h"

namespace bench {

/// A section for each.
void add_profiles(Document& document, const std::vector<StepProfile>& profiles);
Document to_document(const std::vector<StepProfile>& profiles);
Json to_json(const std::vector<StepProfile>& profiles);

/// In the Trace Event Format (Google, "Trace Event Format", 2016). Each recorded step is a process
/// that begins at 0, so that steps can be compared; its threads are tracks. Times are microseconds.
Json trace_of(const StepProfile& profile);

}  // namespace bench
