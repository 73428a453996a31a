#include "results/localisation/evidence_text.h"

#include <cmath>

#include "core/fields.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace bench {
namespace {

/// "11.8 MB/s on node[01,03]"; for jobs without a value "node[01,03]".
std::string trial_text(const Trial& trial, const Incident& incident) {
  const std::string hosts = compact_hostlist(trial.hosts);
  if (!std::isfinite(trial.value)) return hosts;
  return format(trial.value, incident.unit) + " on " + hosts;
}

}  // namespace

std::string evidence_text(const SearchFinding& finding, const std::vector<Trial>& trials,
                          const Incident& incident, Symptom symptom) {
  std::vector<std::string> parts;
  for (const std::size_t i : finding.evidence)
    if (trials.at(i).symptom == symptom) parts.push_back(trial_text(trials[i], incident));
  if (parts.empty()) return "no job";
  const char* how = incident.slow                 ? ""
                    : symptom == Symptom::present ? "jobs fail on "
                                                  : "jobs pass on ";
  return how + join(parts, ", ");
}

Json evidence_json(const SearchFinding& finding, const std::vector<Trial>& trials,
                   const char* what) {
  Json list = Json::array();
  for (const std::size_t i : finding.evidence) {
    const Trial& trial = trials.at(i);
    list.push_back({{"job", trial.job},
                    {what, trial.hosts},
                    {"shows", trial.symptom == Symptom::present},
                    {"value", number_or_null(trial.value)}});
  }
  return list;
}

}  // namespace bench
