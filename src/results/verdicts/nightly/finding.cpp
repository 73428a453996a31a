#include "results/verdicts/nightly/finding.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/fields.h"
#include "core/metric_names.h"

namespace bench {
namespace {

constexpr std::array<std::pair<SuspicionKind, std::string_view>, 4> kKinds{
    {{SuspicionKind::failed, "failed"},
     {SuspicionKind::wrong, "wrong"},
     {SuspicionKind::slower, "slower"},
     {SuspicionKind::unchecked, "unchecked"}}};

constexpr std::array<std::pair<SuspicionState, std::string_view>, 4> kStates{
    {{SuspicionState::suspect, "suspect"},
     {SuspicionState::confirmed, "confirmed"},
     {SuspicionState::dropped, "dropped"},
     {SuspicionState::unsettled, "unsettled"}}};

template <class Value, std::size_t N>
Value value_named(const std::array<std::pair<Value, std::string_view>, N>& names,
                  const std::string& text) {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  return names.front().first;
}

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

std::string_view to_string(SuspicionKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].second;
}

std::string_view to_string(SuspicionState state) {
  return kStates[static_cast<std::size_t>(state)].second;
}

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
  return {{"kind", to_string(finding.kind)},
          {"state", to_string(finding.state)},
          {"host", finding.host},
          {"host_name", text_or_null(finding.host_name)},
          {"case", text_or_null(finding.case_name)},
          {"probe", text_or_null(finding.probe)},
          {"device", text_or_null(finding.device)},
          {"metric", text_or_null(finding.metric)},
          {"params", finding.params},
          {"unit", finding.metric.empty() ? Json() : Json(to_string(finding.unit))},
          {"better", finding.metric.empty() ? Json() : Json(to_string(finding.better))},
          {"value", number_or_null(finding.value)},
          {"expected", number_or_null(finding.expected)},
          {"effect", number_or_null(effect(finding))},
          {"p", number_or_null(finding.p)},
          {"again", finding.again},
          {"peer", text_or_null(finding.peer)},
          {"peer_again", finding.peer_again},
          {"run", text_or_null(finding.run)},
          {"job", text_or_null(finding.job)},
          {"also_ran", finding.also_ran},
          {"text", finding.text},
          {"settle", text_or_null(finding.next_step)}};
}

NightFinding finding_from_json(const Json& json) {
  NightFinding finding;
  finding.kind = value_named(kKinds, text_field(json, "kind"));
  finding.state = value_named(kStates, text_field(json, "state"));
  finding.host = text_field(json, "host");
  finding.host_name = text_field(json, "host_name");
  finding.case_name = text_field(json, "case");
  finding.probe = text_field(json, "probe");
  finding.device = text_field(json, "device");
  finding.metric = current_metric_name(text_field(json, "metric"));
  finding.params = object_field(json, "params");
  finding.unit = unit_or_count(text_field(json, "unit"));
  finding.better = better_or_none(text_field(json, "better"));
  finding.value = number_field(json, "value");
  finding.expected = number_field(json, "expected");
  finding.p = number_field(json, "p");
  finding.again = numbers(array_field(json, "again"));
  finding.peer = text_field(json, "peer");
  finding.peer_again = numbers(array_field(json, "peer_again"));
  finding.run = text_field(json, "run");
  finding.job = text_field(json, "job");
  for (const Json& check : array_field(json, "also_ran"))
    if (check.is_string()) finding.also_ran.push_back(check);
  finding.text = text_field(json, "text");
  finding.next_step = text_field(json, "settle");
  return finding;
}

}  // namespace bench
