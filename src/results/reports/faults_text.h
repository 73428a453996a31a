// What drivers reported of a case's devices, each once.
#pragma once

#include <string>
#include <vector>

#include "results/job_results.h"
#include "results/reports/text_style.h"

namespace bench {

/// "Xid 63: ... on GPU-1234, rank 0 of 03.products.0"; red for a fatal one. "" for none.
std::string faults_text(const std::vector<const JobResult*>& jobs, std::size_t indent,
                        const TextStyle& style);

}  // namespace bench
