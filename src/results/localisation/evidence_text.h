// The evidence of a finding, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "results/localisation/incident.h"

namespace bench {

/// "11.8 MB/s on node[01,03], 12 MB/s on node[03-04]"; for jobs without a value "jobs fail on
/// node[01,03], node[03-04]"; "no job".
std::string evidence_text(const SearchFinding& finding, const std::vector<Trial>& trials,
                          const Incident& incident, Symptom symptom);

/// [{"job", `what`: [NAME, ...], "shows", "value"}]
Json evidence_json(const SearchFinding& finding, const std::vector<Trial>& trials,
                   const char* what);

}  // namespace bench
