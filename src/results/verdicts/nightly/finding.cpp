#include "results/verdicts/nightly/finding.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/fields.h"
#include "core/metric_names.h"
#include "core/names.h"

namespace bench {
namespace {

constexpr NameTable<SuspicionKind, 5> kKinds{{{{SuspicionKind::failed, "failed"},
                                               {SuspicionKind::wrong, "wrong"},
                                               {SuspicionKind::slower, "slower"},
                                               {SuspicionKind::cpu_quota, "cpu_quota"},
                                               {SuspicionKind::unchecked, "unchecked"}}}};

constexpr NameTable<SuspicionState, 4> kStates{{{{SuspicionState::suspect, "suspect"},
                                                 {SuspicionState::confirmed, "confirmed"},
                                                 {SuspicionState::dropped, "dropped"},
                                                 {SuspicionState::unsettled, "unsettled"}}}};

/// Optional texts, null in JSON if empty.
constexpr std::pair<const char*, std::string NightFinding::*> kTexts[] = {
    {"host_name", &NightFinding::host_name},
    {"case", &NightFinding::case_name},
    {"probe", &NightFinding::probe},
    {"device", &NightFinding::device},
    {"metric", &NightFinding::metric},
    {"peer", &NightFinding::peer},
    {"run", &NightFinding::run},
    {"job", &NightFinding::job},
    {"settle", &NightFinding::next_step}};

std::vector<double> numbers(const Json& list) {
  std::vector<double> values;
  for (const Json& one : list)
    if (one.is_number()) values.push_back(one.get<double>());
  return values;
}

Unit unit_or_count(const std::string& text) try { return unit_from(text); } catch (const Error&) {
  return Unit::count;
}

Better better_or_none(const std::string& text) try {
  return better_from(text);
} catch (const Error&) {
  return Better::none;
}

}  // namespace

std::string_view to_string(SuspicionKind kind) { return kKinds.name(kind); }
std::string_view to_string(SuspicionState state) { return kStates.name(state); }

std::string check_name(const std::string& probe, const std::string& device) {
  return probe + " on " + device;
}

double effect(const NightFinding& finding) {
  const double share = finding.value / finding.expected - 1.0;
  return std::isfinite(share) ? share : kNoValue;
}

double loss_of(double value, double expected, Better better) {
  const double share = value / expected - 1.0;
  if (!std::isfinite(share)) return kNoValue;
  if (better == Better::none) return std::abs(share);
  return better == Better::higher ? -share : share;
}

Json to_json(const NightFinding& finding) {
  Json json = {{"kind", to_string(finding.kind)},
               {"state", to_string(finding.state)},
               {"host", finding.host},
               {"params", finding.params},
               {"unit", finding.metric.empty() ? Json() : Json(to_string(finding.unit))},
               {"better", finding.metric.empty() ? Json() : Json(to_string(finding.better))},
               {"value", number_or_null(finding.value)},
               {"expected", number_or_null(finding.expected)},
               {"effect", number_or_null(effect(finding))},
               {"p", number_or_null(finding.p)},
               {"again", finding.again},
               {"peer_again", finding.peer_again},
               {"also_ran", finding.also_ran},
               {"text", finding.text}};
  for (const auto& [key, text] : kTexts) json[key] = text_or_null(finding.*text);
  return json;
}

NightFinding finding_from_json(const Json& json) {
  NightFinding finding;
  finding.kind = kKinds.find(text_field(json, "kind")).value_or(SuspicionKind::failed);
  finding.state = kStates.find(text_field(json, "state")).value_or(SuspicionState::suspect);
  finding.host = text_field(json, "host");
  for (const auto& [key, text] : kTexts) finding.*text = text_field(json, key);
  finding.metric = current_metric_name(finding.metric);
  finding.params = object_field(json, "params");
  finding.unit = unit_or_count(text_field(json, "unit"));
  finding.better = better_or_none(text_field(json, "better"));
  finding.value = number_field(json, "value");
  finding.expected = number_field(json, "expected");
  finding.p = number_field(json, "p");
  finding.again = numbers(array_field(json, "again"));
  finding.peer_again = numbers(array_field(json, "peer_again"));
  for (const Json& check : array_field(json, "also_ran"))
    if (check.is_string()) finding.also_ran.push_back(check);
  finding.text = text_field(json, "text");
  return finding;
}

}  // namespace bench
