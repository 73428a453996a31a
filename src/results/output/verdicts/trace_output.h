// Traces of other profilers: as a report and as JSON (schemas/report_profile_import.json).
#pragma once

#include <vector>

#include "results/output/document/document.h"
#include "results/verdicts/profile/trace_breakdown.h"

namespace bench {

Document to_document(const std::vector<TraceBreakdown>& breakdowns);
Json to_json(const std::vector<TraceBreakdown>& breakdowns);

/// A kernel's name without return type, namespaces and parameters, and at most 64 characters of it:
/// "elementwise_kernel<128, 2, at::native::...".
std::string short_kernel_name(const std::string& name);

}  // namespace bench
