#include "results/output/predictions/prediction_output.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

std::string seconds_text(double seconds) {
  if (seconds >= 2 * kSecondsOfDay) return fmt::format("{:.4g} days", seconds / kSecondsOfDay);
  if (seconds >= 2 * kSecondsOfHour) return fmt::format("{:.4g} hours", seconds / kSecondsOfHour);
  return format(seconds, Unit::second);
}

/// Large counts in groups of three: 8,030,261,248.
std::string count_text(double value) {
  if (value >= 1e15) return fmt::format("{:.4g}", value);
  if (value != std::floor(value)) return fmt::format("{:.5g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

const char* unit_name(PredictedUnit unit) {
  switch (unit) {
    case PredictedUnit::bytes:
      return "B";
    case PredictedUnit::seconds:
      return "s";
    case PredictedUnit::bytes_per_second:
      return "B/s";
    case PredictedUnit::flops:
      return "FLOP";
    case PredictedUnit::flops_per_second:
      return "FLOP/s";
    case PredictedUnit::tokens_per_second:
      return "tokens/s";
    case PredictedUnit::ratio:
      return "ratio";
    case PredictedUnit::count:
      return "count";
  }
  return "";
}

/// "exposed_data_communication_s" without its unit, in words; "weight_bytes" is one in words.
std::string label_of(std::string name) {
  for (const char* unit : {"_bytes_per_second", "_s"})
    if (name.ends_with(unit)) {
      name.resize(name.size() - std::string_view(unit).size());
      break;
    }
  for (char& letter : name)
    if (letter == '_') letter = ' ';
  return name;
}

/// Numbers without a unit as they were given, others as in the answer.
std::string input_text(const PredictionInput& input) {
  if (!input.value.is_number()) return printable(input.value.get<std::string>());
  const double value = input.value.get<double>();
  return input.unit == PredictedUnit::count ? count_text(value)
                                            : format_predicted(value, input.unit);
}

}  // namespace

std::string format_predicted(double value, PredictedUnit unit) {
  if (!std::isfinite(value)) return "none";
  switch (unit) {
    case PredictedUnit::bytes:
      return format(Bytes{value});
    case PredictedUnit::seconds:
      return seconds_text(value);
    case PredictedUnit::bytes_per_second:
      return format(value, Unit::byte_per_second);
    case PredictedUnit::flops:
      return fmt::format("{:.4g} FLOP", value);
    case PredictedUnit::flops_per_second:
      return format(value, Unit::flop_per_second);
    case PredictedUnit::tokens_per_second:
      return fmt::format("{:.4g} tokens/s", value);
    case PredictedUnit::ratio:
      return fmt::format("{:.4g}", value);
    case PredictedUnit::count:
      return count_text(std::round(value * 100) / 100);
  }
  return "";
}

namespace {

/// Relative to what was measured.
double error_of(const Prediction& prediction) {
  return prediction.value / prediction.check->measured - 1.0;
}

bool range_holds(const Prediction& prediction) {
  const double measured = prediction.check->measured;
  return prediction.low <= measured && measured <= prediction.high;
}

FactList check_facts(const Prediction& prediction) {
  const PredictionCheck& check = *prediction.check;
  const auto text = [&](double value) { return format_predicted(value, prediction.unit); };
  std::string measured = text(check.measured);
  if (check.values > 1)
    measured += fmt::format(" (median of {} values, {} to {})", check.values, text(check.least),
                            text(check.most));
  FactList facts;
  facts.rows.emplace_back("measured", measured);
  facts.rows.emplace_back("by", printable(check.metric + " " + dump(check.params)));
  facts.rows.emplace_back("source", printable(check.source));
  facts.rows.emplace_back("error of the prediction",
                          fmt::format("{:+.1f} %", 100.0 * error_of(prediction)));
  if (prediction.low != prediction.high)
    facts.rows.emplace_back("measured value", range_holds(prediction)
                                                  ? "inside the predicted range"
                                                  : "outside the predicted range");
  return facts;
}

Json check_json(const Prediction& prediction) {
  if (!prediction.check) return nullptr;
  const PredictionCheck& check = *prediction.check;
  return {{"source", check.source},
          {"metric", check.metric},
          {"params", check.params},
          {"values", check.values},
          {"measured", check.measured},
          {"least", check.least},
          {"most", check.most},
          {"error", error_of(prediction)},
          {"inside_range", range_holds(prediction)}};
}

}  // namespace

Document to_document(const Prediction& prediction) {
  Document document{.title = "Prediction: " + prediction.question};
  const auto text = [&](double value) { return format_predicted(value, prediction.unit); };
  std::string answer = text(prediction.value);
  if (prediction.low != prediction.high)
    answer += fmt::format(" ({} to {})", text(prediction.low), text(prediction.high));
  document.add(Headline{
      .verdict = answer,
      .tone = Tone::strong,
      .text = prediction.what + (prediction.model.empty() ? "" : " of " + prediction.model)});
  if (prediction.check)
    document.add(Heading{"Held against a measurement"}).add(check_facts(prediction));
  DocumentTable parts{{{"part", false}, {"value"}}};
  for (const PredictionPart& part : prediction.parts)
    parts.rows.push_back(
        {{label_of(part.name)}, numeric(part.value, format_predicted(part.value, part.unit))});
  document.add(std::move(parts));
  if (!prediction.choices.empty()) {
    document.add(Heading{"Choices, the fastest first"});
    DocumentTable choices{{{"split", false}, {"step"}, {"memory"}, {"tokens/s"}, {"to best"}}};
    const double best = prediction.choices.front().seconds;
    for (const PredictedChoice& one : prediction.choices)
      choices.rows.push_back(
          {{one.text},
           numeric(one.seconds, seconds_text(one.seconds)),
           numeric(one.memory_bytes, format(Bytes{one.memory_bytes})),
           numeric(one.tokens_per_second, fmt::format("{:.4g}", one.tokens_per_second)),
           numeric(one.seconds / best, fmt::format("x {:.3f}", one.seconds / best))});
    document.add(std::move(choices));
  }
  document.add(Heading{"Inputs"});
  DocumentTable inputs{{{"input", false}, {"value"}, {"source", false}}};
  for (const PredictionInput& input : prediction.inputs)
    inputs.rows.push_back({{label_of(input.name)}, {input_text(input)}, {printable(input.source)}});
  document.add(std::move(inputs));
  FactList how;
  how.rows.emplace_back("formula", prediction.formula);
  for (const std::string& source : prediction.sources)
    how.rows.emplace_back(&source == &prediction.sources.front() ? "sources" : "", source);
  document.add(Heading{"How"}).add(std::move(how));
  for (const std::string& note : prediction.notes) document.add(Note{note});
  return document;
}

Json to_json(const Prediction& prediction) {
  Json inputs = Json::object(), parts = Json::object(), choices = Json::array();
  for (const PredictedChoice& one : prediction.choices)
    choices.push_back({{"split", one.text},
                       {"step_s", one.seconds},
                       {"memory_bytes", one.memory_bytes},
                       {"tokens_per_second", one.tokens_per_second}});
  for (const PredictionInput& input : prediction.inputs)
    inputs[input.name] = {{"value", input.value}, {"source", input.source}};
  for (const PredictionPart& part : prediction.parts) parts[part.name] = part.value;
  return {{"question", prediction.question},
          {"model", prediction.model.empty() ? Json() : Json(prediction.model)},
          {"inputs", std::move(inputs)},
          {"answer",
           {{"what", prediction.what},
            {"value", prediction.value},
            {"unit", unit_name(prediction.unit)},
            {"low", prediction.low},
            {"high", prediction.high},
            {"parts", std::move(parts)}}},
          {"check", check_json(prediction)},
          {"choices", std::move(choices)},
          {"formula", prediction.formula},
          {"sources", prediction.sources},
          {"notes", prediction.notes}};
}

}  // namespace bench
