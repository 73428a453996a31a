#include "core/record.h"

#include <cmath>

#include "core/error.h"
#include "core/schema.h"
#include "tests/core/samples_for_tests.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

Json full_json() { return to_json(one_of_each_kind().front()); }

/// The refusal of the full record after `pointer` was set to `value`.
std::string record_refusal(const std::string& pointer, const Json& value) {
  Json json = full_json();
  json[Json::json_pointer(pointer)] = value;
  try {
    record_from_json(json);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

std::string refusal_without(const std::string& object, const std::string& key) {
  Json json = full_json();
  json[Json::json_pointer(object)].erase(key);
  try {
    record_from_json(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a record of every kind survives JSON and text") {
  for (const Record& record : one_of_each_kind()) {
    const Json json = to_json(record);
    const Record back = record_from_json(parse_json(dump(json), "test"));
    CHECK(back.body.index() == record.body.index());
    CHECK(to_json(back) == json);
  }
}

TEST_CASE("every field of samples survives a round trip") {
  const Record back = record_from_json(full_json());
  const auto& samples = std::get<Samples>(back.body);
  const Samples expected = full_samples();
  CHECK(back.rank == 3);
  CHECK(back.time_ns == 1'795'199'405'123'456'789);
  CHECK(samples.values == expected.values);
  CHECK(samples.flags == expected.flags);
  CHECK(samples.over == "max");
  CHECK(samples.stop == "interval");
  CHECK(samples.repeats == 17);
  CHECK(samples.limit->kind == LimitKind::proven);
  CHECK(samples.limit->source == "2 pipes x 16 lanes");
  CHECK(samples.check->method == "exact integers");
  CHECK(samples.quality.clock_hz == 3.1e9);
  CHECK(samples.chosen == expected.chosen);
  CHECK(samples.outcome == Status::invalid);
  CHECK(samples.reason == expected.reason);
}

TEST_CASE("NaN is written as null, read as NaN, and fails its check") {
  const Json json = to_json(Record{"j", "h", 0, 0, bare_samples()});
  CHECK(json["body"]["values"][1].is_null());
  const auto samples = std::get<Samples>(record_from_json(json).body);
  CHECK(std::isnan(samples.values[1]));
  CHECK(std::isnan(samples.check->error));
  CHECK_FALSE(samples.check->passed());
  CHECK(samples.check->tolerance == 1e-6);
  CHECK_FALSE(samples.limit);
}

TEST_CASE("every kind of record satisfies schemas/record.json") {
  const Schema schema = Schema::load("schemas/record.json");
  for (const Record& record : one_of_each_kind()) {
    const Json json = to_json(record);
    CHECK(schema.check(json, "record") == json);
  }
}

TEST_CASE("a record of another version is refused, naming both versions") {
  CHECK_THAT(record_refusal("/schema_version", 2),
             Contains("schema_version is 2") && Contains("reads 1"));
  CHECK_THAT(record_refusal("/schema_version", "1"), Contains("schema_version is \"1\""));
}

TEST_CASE("a wrong record is refused, naming the place and the value") {
  CHECK_THAT(record_refusal("/kind", "sample"),
             Contains("record: /kind: \"sample\"") && Contains("'samples'"));
  CHECK_THAT(record_refusal("/rank", -2),
             Contains("/rank: expected an integer from -1") && Contains("-2"));
  CHECK_THAT(record_refusal("/rank", 1.5), Contains("1.5"));
  CHECK_THAT(record_refusal("/time_ns", 1e30), Contains("/time_ns"));
  CHECK_THAT(record_refusal("/host", 7), Contains("record: /host: expected a string, but got 7"));
  CHECK_THAT(record_refusal("/body", Json::array()), Contains("/body: expected an object"));
  CHECK_THAT(record_refusal("/body/unit", "GB/s"),
             Contains("record: /body/unit: unknown unit 'GB/s'"));
  CHECK_THAT(record_refusal("/body/values/1", "fast"),
             Contains("/body/values: expected numbers or null"));
  CHECK_THAT(record_refusal("/body/flags/0", -1), Contains("/body/flags"));
  CHECK_THAT(record_refusal("/body/flags/0", 65536), Contains("65536"));
  CHECK_THAT(record_refusal("/body/over", "total"), Contains("/body/over"));
  CHECK_THAT(record_refusal("/body/repeats", 0), Contains("/body/repeats"));
  CHECK_THAT(record_refusal("/body/repeats", nullptr), Contains("/body/repeats"));
  CHECK_THAT(record_refusal("/body/limit/value", nullptr),
             Contains("/body/limit/value: expected a number"));
  CHECK_THAT(record_refusal("/body/limit/kind", "guess"),
             Contains("/body/limit/kind: unknown limit kind 'guess'"));
  CHECK_THAT(record_refusal("/body/check/method", ""), Contains("/body/check/method"));
  CHECK_THAT(record_refusal("/body/quality/cpu_share", -0.5), Contains("/body/quality/cpu_share"));
  CHECK_THAT(record_refusal("/body/outcome", "fine"),
             Contains("/body/outcome: unknown status 'fine'"));
  CHECK_THAT(record_refusal("/body/params", 1), Contains("/body/params: expected an object"));
}

TEST_CASE("an unknown or missing key is refused") {
  CHECK_THAT(record_refusal("/body/metrc", "x"),
             Contains("/body/metrc: unknown key Did you mean 'metric'?") ||
                 Contains("/body/metrc: unknown key. Did you mean 'metric'?"));
  CHECK_THAT(record_refusal("/extra", 1), Contains("record: /extra: unknown key"));
  CHECK_THAT(refusal_without("", "job"), Contains("record: 'job' is missing"));
  CHECK_THAT(refusal_without("/body", "values"), Contains("record: /body: 'values' is missing"));
}

TEST_CASE("values and flags of unequal length are refused") {
  CHECK_THAT(record_refusal("/body/flags", {0, 0}), Contains("2 flags for 3 values"));
}

TEST_CASE("arrays beyond the size limit are refused, at it they are not") {
  Json json = to_json(Record{"j", "h", 0, 0, bare_samples()});
  json["body"]["values"] = std::vector<int>(1'000'000, 1);
  json["body"]["flags"] = std::vector<int>(1'000'000, 0);
  CHECK(std::get<Samples>(record_from_json(json).body).values.size() == 1'000'000);
  json["body"]["values"].push_back(1);
  json["body"]["flags"].push_back(0);
  CHECK_THROWS_WITH(record_from_json(json), Contains("1000001 elements"));
}

TEST_CASE("columns of a chunk have one length and plain cells") {
  const auto refused = [](const Json& columns) {
    try {
      record_from_json(to_json(Record{"j", "h", 0, 0, Chunk{"c", columns}}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refused({{"a", {1, 2}}, {"b", {"x", nullptr}}}) == "accepted");
  CHECK_THAT(refused({{"a", {1, 2}}, {"b", Json::array({1})}}),
             Contains("columns/b: a column of 1 rows"));
  CHECK_THAT(refused({{"a", 1}}), Contains("columns/a: expected an array"));
  CHECK_THAT(refused({{"a", Json::array({Json::object()})}}),
             Contains("columns/a: expected numbers"));
}

TEST_CASE("a record must be a JSON object") {
  for (const Json& json : {Json(), Json(1), Json("x"), Json::array(), Json::object()})
    CHECK_THROWS_AS(record_from_json(json), Error);
}

TEST_CASE("whole numbers written as 3.0 are integers, as in JSON Schema") {
  Json json = full_json();
  json["rank"] = 3.0;
  CHECK(record_from_json(json).rank == 3);
}
