#include "core/record.h"

#include <algorithm>

#include "core/error.h"
#include "core/fields.h"
#include "core/names.h"
#include "core/samples_json.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr NameTable<Status, 5> kStatuses{{{{Status::ok, "ok"},
                                           {Status::skipped, "skipped"},
                                           {Status::invalid, "invalid"},
                                           {Status::failed, "failed"},
                                           {Status::timed_out, "timed_out"}}}};

constexpr NameTable<LimitKind, 3> kLimitKinds{{{{LimitKind::proven, "proven"},
                                                {LimitKind::datasheet, "datasheet"},
                                                {LimitKind::measured, "measured"}}}};

using Body = decltype(Record::body);

constexpr std::int64_t kHighestRank = 10'000'000;

// Kinds in the order of the variant.
constexpr std::array<std::string_view, 6> kKinds = {"samples", "chunk", "phase",
                                                    "event",   "facts", "outcome"};

Json body_json(const Chunk& chunk) { return {{"name", chunk.name}, {"columns", chunk.columns}}; }

Json body_json(const Phase& phase) {
  return {{"name", phase.name}, {"seconds", number_or_null(phase.seconds)}};
}

Json body_json(const Event& event) { return {{"key", event.key}, {"value", event.value}}; }
Json body_json(const Facts& facts) { return {{"topic", facts.topic}, {"facts", facts.facts}}; }

Json body_json(const Outcome& outcome) {
  return {{"status", to_string(outcome.status)},
          {"reason", outcome.reason},
          {"seconds", number_or_null(outcome.seconds)}};
}

Json body_json(const Samples& samples) { return to_json(samples); }

void check_column(const Json& column, const std::string& where, std::size_t rows) {
  if (!column.is_array())
    throw Error(ErrorKind::input, where + ": expected an array, but got " + excerpt(column));
  if (column.size() > kMaxArray || column.size() != rows)
    throw Error(ErrorKind::input,
                where + ": a column of " + std::to_string(column.size()) + " rows",
                "columns must have equal length, at most " + std::to_string(kMaxArray));
  for (const Json& cell : column)
    if (cell.is_structured())
      throw Error(
          ErrorKind::input,
          where + ": expected numbers, strings, booleans or null, but got " + excerpt(cell));
}

Chunk read_chunk(Fields& fields) {
  Chunk chunk{fields.word("name"), fields.object("columns")};
  if (chunk.columns.empty()) return chunk;
  const std::size_t rows = chunk.columns.begin()->size();
  for (const auto& [name, column] : chunk.columns.items())
    check_column(column, fields.where("columns/" + printable(name)), rows);
  return chunk;
}

Outcome read_outcome(Fields& fields) {
  return {fields.word_as("status", status_from), fields.text_or("reason", ""),
          fields.at_least("seconds", 0.0)};
}

Body read_body(const std::string& kind, Fields& fields) {
  if (kind == "samples") return read_samples(fields);
  if (kind == "chunk") return read_chunk(fields);
  if (kind == "phase") return Phase{fields.word("name"), fields.at_least("seconds", 0.0)};
  if (kind == "event") return Event{fields.word("key"), fields.any("value")};
  if (kind == "facts") return Facts{fields.word("topic"), fields.object("facts")};
  return read_outcome(fields);
}

void check_version(Fields& fields) {
  const Json& version = fields.any("schema_version");
  if (version != kRecordVersion)
    throw Error(ErrorKind::input,
                "record: schema_version is " + excerpt(version) + ", but this program reads " +
                    std::to_string(kRecordVersion),
                "use benchctl and bench-rank from the same build");
}

}  // namespace

std::string_view to_string(Status status) { return kStatuses.name(status); }
Status status_from(std::string_view name) { return kStatuses.value(name, "status"); }
std::string_view to_string(LimitKind kind) { return kLimitKinds.name(kind); }
LimitKind limit_kind_from(std::string_view name) { return kLimitKinds.value(name, "limit kind"); }

Status worse(Status a, Status b) { return std::max(a, b); }

Json to_json(const Record& record) {
  return {{"schema_version", kRecordVersion},
          {"kind", kKinds[record.body.index()]},
          {"job", record.job},
          {"host", record.host},
          {"rank", record.rank},
          {"time_ns", record.time_ns},
          {"body", std::visit([](const auto& body) { return body_json(body); }, record.body)}};
}

Record record_from_json(const Json& json) {
  Fields fields(json, "record");
  check_version(fields);
  static const std::vector<std::string> kinds(kKinds.begin(), kKinds.end());
  const std::string kind = fields.one_of("kind", fields.text("kind"), kinds);
  Fields body = fields.inside("body", fields.object("body"));
  Record record{fields.text("job"), fields.text("host"),
                static_cast<int>(fields.integer("rank", -1, kHighestRank)),
                fields.integer("time_ns", INT64_MIN, INT64_MAX), read_body(kind, body)};
  body.finish();
  fields.finish();
  return record;
}

}  // namespace bench
