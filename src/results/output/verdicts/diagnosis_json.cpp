#include "results/output/verdicts/diagnosis_json.h"

#include <fmt/format.h>

#include "core/fields.h"

namespace bench::diagnosis {
namespace {

Json finding_json(const Finding& finding) {
  return {{"cause", to_string(finding.cause)},
          {"text", words_of(finding.cause)},
          {"rule", finding.rule},
          {"share", number_or_null(finding.share)},
          {"evidence", finding.evidence},
          {"ceiling", number_or_null(finding.gain)},
          {"ceiling_of", text_or_null(finding.gain_text)},
          {"experiment", text_or_null(finding.experiment)},
          {"fix", text_or_null(finding.fix)}};
}

Json finding_or_null(const std::optional<Finding>& finding) {
  return finding ? finding_json(*finding) : Json();
}

Json causes_json(const Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const Finding& finding : diagnosis.all) list.push_back(finding_json(finding));
  return list;
}

Json unknown_json(const Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const Unknown& unknown : diagnosis.not_judged)
    list.push_back({{"rule", unknown.rule},
                    {"cause", to_string(unknown.cause)},
                    {"why", unknown.why},
                    {"settle", text_or_null(unknown.settle)}});
  return list;
}

Json step_json(const Observation& observation) {
  Json parts = Json::array();
  for (const Measure part : step_parts())
    parts.push_back(
        {{"part", words_of(part).name}, {"share", number_or_null(observation.value(part))}});
  return parts;
}

Json measures_json(const Observation& observation) {
  Json list = Json::array();
  for (const auto& [measure, measured] : observation.all())
    list.push_back({{"measure", words_of(measure).name},
                    {"unit", to_string(words_of(measure).unit)},
                    {"value", number_or_null(measured.value)},
                    {"source", text_or_null(measured.source)}});
  return list;
}

}  // namespace

Json to_json(const Diagnosed& one) {
  const Observation& seen = one.observation;
  return {{"case", seen.case_name},
          {"subject", to_string(seen.subject)},
          {"what", text_or_null(seen.what)},
          {"jobs", seen.jobs},
          {"on_gpu", seen.on_gpu},
          {"healthy", one.diagnosis.healthy()},
          {"bottleneck", finding_or_null(one.diagnosis.bottleneck)},
          {"next", finding_or_null(one.diagnosis.next)},
          {"causes", causes_json(one.diagnosis)},
          {"not_judged", unknown_json(one.diagnosis)},
          {"step", step_json(seen)},
          {"measures", measures_json(seen)}};
}

Json to_json(const std::vector<Diagnosed>& list) {
  Json json = Json::array();
  for (const Diagnosed& one : list) json.push_back(to_json(one));
  return json;
}

Json rules_json() {
  Json list = Json::array();
  for (const Rule& rule : rules())
    list.push_back(
        {{"rule", rule.name},
         {"cause", to_string(rule.cause)},
         {"description", fmt::format("{}, where {}", words_of(rule.cause), condition_text(rule))},
         {"condition", condition_text(rule)},
         {"ceiling", text_or_null(rule.ceiling.text())},
         {"experiment", rule.experiment},
         {"fix", rule.fix}});
  return list;
}

}  // namespace bench::diagnosis
