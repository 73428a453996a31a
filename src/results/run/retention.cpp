#include "results/run/retention.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/fields.h"

namespace bench {
namespace {

constexpr std::pair<const char*, double Series::*> kStatistics[] = {
    {"min", &Series::min},
    {"p5", &Series::p5},
    {"median", &Series::median},
    {"mean", &Series::mean},
    {"std", &Series::std},
    {"p95", &Series::p95},
    {"p99", &Series::p99},
    {"max", &Series::max},
    {"low", &Series::low},
    {"high", &Series::high},
    {"unfiltered_median", &Series::unfiltered_median}};

/// Nothing if the line is not one of our records.
std::optional<Record> record_of(std::string_view line) try {
  return record_from_json(parse_json(std::string(line), "records"));
} catch (const Error&) {
  return {};
}

std::size_t count_of(const Json& json, const char* key) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, integer_field(json, key)));
}

/// Summary first: the samples give it.
std::string thinned_lines(Record record, std::size_t keep) {
  auto& samples = std::get<Samples>(record.body);
  Record summary = record;
  summary.body = Facts{kThinnedTopic, summary_json(summarise(samples, PlannedJob{}))};
  const std::size_t n = samples.values.size();
  samples.flags.resize(n, kUnclean);
  for (std::size_t i = 0; i < keep; ++i) {
    samples.values[i] = samples.values[i * n / keep];
    samples.flags[i] = samples.flags[i * n / keep];
  }
  samples.values.resize(keep);
  samples.flags.resize(keep);
  return dump(to_json(record)) + "\n" + dump(to_json(summary)) + "\n";
}

}  // namespace

Json summary_json(const Series& series) {
  Json summary = {{"n", series.n},
                  {"clean", series.clean},
                  {"flags", series.flags},
                  {"outcome", to_string(series.outcome)},
                  {"reason", series.reason}};
  for (const auto& [name, value] : kStatistics) summary[name] = number_or_null(series.*value);
  return summary;
}

void restore_summary(const Json& summary, Series& series) {
  series.n = count_of(summary, "n");
  series.clean = count_of(summary, "clean");
  for (const auto& [name, value] : kStatistics) series.*value = number_field(summary, name);
  series.of_limit = of_limit(series.median, series.better, series.limit);
  series.of_limit_at_clock = at_clock_held(series.of_limit, series.limit, series.quality.clock_hz);
  series.flags.clear();
  for (const auto& [name, count] : object_field(summary, "flags").items())
    if (count.is_number_unsigned()) series.flags[name] = count.get<std::size_t>();
  series.reason = text_field(summary, "reason");
  try {
    series.outcome = status_from(text_field(summary, "outcome"));
  } catch (const Error&) {
    series.outcome = Status::invalid;
    series.reason = "the summary of its thinned samples is corrupt";
  }
}

Thinned thin_records(std::string_view records, std::size_t keep) {
  Thinned thinned;
  thinned.text.reserve(records.size());
  const auto next_line = [&] {
    const auto end = records.find('\n');
    return records.substr(0, end == std::string_view::npos ? end : end + 1);
  };
  const std::string topic = std::string("\"topic\":\"") + kThinnedTopic + "\"";
  while (!records.empty()) {
    const std::string_view line = next_line();
    records.remove_prefix(line.size());
    const bool is_samples = line.find("\"kind\":\"samples\"") != std::string_view::npos;
    const bool is_thinned = next_line().find(topic) != std::string_view::npos;
    const auto record = is_samples && !is_thinned ? record_of(line) : std::nullopt;
    const auto* samples = record ? std::get_if<Samples>(&record->body) : nullptr;
    if (samples == nullptr || keep == 0 || samples->values.size() <= keep) {
      thinned.text += line;
      continue;
    }
    const std::string shorter = thinned_lines(*record, keep);
    if (shorter.size() >= line.size()) {
      thinned.text += line;
      continue;
    }
    ++thinned.series;
    thinned.samples += samples->values.size() - keep;
    thinned.text += shorter;
  }
  return thinned;
}

namespace {

/// Removes the first line, without its line break.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

/// Whether `part` has some of the pairs of `whole`, in order.
bool is_part(const Json& part, const Json& whole) {
  const Json values = array_field(part, "values"), flags = array_field(part, "flags");
  const Json all_values = array_field(whole, "values"), all_flags = array_field(whole, "flags");
  if (values.empty() || values.size() != flags.size()) return false;
  std::size_t found = 0;
  for (std::size_t i = 0; i < all_values.size() && found < values.size(); ++i)
    if (all_values[i] == values[found] && (i >= all_flags.size() || all_flags[i] == flags[found]))
      ++found;
  return found == values.size();
}

/// Whether `part` has every field of `whole` with the same value, apart from `except`. It may have
/// more: fields that the version which wrote the original did not have.
bool has_fields_of(const Json& whole, const Json& part, const std::set<std::string>& except) {
  if (!part.is_object() || !whole.is_object()) return false;
  for (const auto& [key, value] : whole.items())
    if (!except.contains(key) && (!part.contains(key) || part[key] != value)) return false;
  return true;
}

bool is_thinned_form(std::string_view original, std::string_view line, std::string_view summary) {
  const Json whole = try_parse_json(original).value_or(Json());
  const Json part = try_parse_json(line).value_or(Json());
  const Json facts = try_parse_json(summary).value_or(Json());
  const Json &samples = object_field(whole, "body"), &fewer = object_field(part, "body");
  const Json& summed = object_field(facts, "body");
  return text_field(summed, "topic") == kThinnedTopic &&
         count_of(object_field(summed, "facts"), "n") == array_field(samples, "values").size() &&
         has_fields_of(whole, facts, {"body", "kind"}) && has_fields_of(whole, part, {"body"}) &&
         has_fields_of(samples, fewer, {"values", "flags"}) && is_part(fewer, samples);
}

}  // namespace

void check_thinned(std::string_view original, std::string_view thinned) {
  for (std::size_t number = 1; !original.empty(); ++number) {
    const std::string_view line = take_line(original), kept = take_line(thinned);
    if (line == kept || is_thinned_form(line, kept, take_line(thinned))) continue;
    throw Error(ErrorKind::internal,
                "thinning would change line " + std::to_string(number) + " of the records",
                "the run was left unchanged; please report this");
  }
  if (!thinned.empty())
    throw Error(ErrorKind::internal, "thinning would add lines to the records",
                "the run was left unchanged; please report this");
}

}  // namespace bench
