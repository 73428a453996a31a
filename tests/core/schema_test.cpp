#include "core/schema.h"

#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Contains;
using Catch::Equals;

namespace {

Json parsed(const std::string& text) { return parse_json(text, "test"); }

struct Refusal {
  std::string what;
  std::string hint;
};

Refusal refuse(const std::string& schema, const std::string& value) {
  try {
    Schema(parsed(schema), "s").check(parsed(value), "x.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return {error.what(), error.hint()};
  }
  return {"accepted", ""};
}

std::string schema_refusal(const std::string& schema, const std::string& value) {
  return refuse(schema, value).what;
}

Json filled(const std::string& schema, const std::string& value) {
  return Schema(parsed(schema), "s").check(parsed(value), "x.json");
}

}  // namespace

TEST_CASE("a misspelt value is refused with the place, the choices and the nearest one") {
  const std::string schema =
      R"({"type": "object", "properties": {"cases": {"type": "array", "items":
      {"type": "object", "properties": {"probe": {"enum": ["gemm", "collective"]}}}}}})";
  CHECK_THAT(schema_refusal(schema, R"({"cases": [{"probe": "gem"}]})"),
             Equals("x.json: /cases/0/probe: \"gem\" is not allowed; use one of: gemm, collective. "
                    "Did you mean 'gemm'?"));
  CHECK_THAT(schema_refusal(schema, R"({"cases": [{"probe": 3}]})"),
             Equals("x.json: /cases/0/probe: 3 is not allowed; use one of: gemm, collective"));
}

TEST_CASE("an unknown key is refused with a suggestion and a list of allowed keys") {
  const auto [what, hint] =
      refuse(R"({"type": "object", "properties": {"axes": {}, "name": {}}})", R"({"axis": 1})");
  CHECK_THAT(what, Equals("x.json: /axis: unknown key; Did you mean 'axes'?"));
  CHECK_THAT(hint, Equals("allowed keys: axes, name"));
  CHECK_THAT(schema_refusal(R"({"properties": {}})", R"({"a": 1})"),
             Equals("x.json: /a: unknown key"));
}

TEST_CASE("unknown keys are allowed and checked if the schema says so") {
  CHECK(schema_refusal(R"({"properties": {}, "additionalProperties": true})", R"({"a": 1})") ==
        "accepted");
  CHECK(schema_refusal(R"({"type": "object"})", R"({"a": 1})") == "accepted");
  CHECK_THAT(schema_refusal(R"({"additionalProperties": {"type": "string"}})", R"({"a": 1})"),
             Contains("/a: expected a string"));
}

TEST_CASE("ranges are named with the value seen") {
  CHECK_THAT(schema_refusal(R"({"minimum": 1, "description": "Threads."})", "0"),
             Equals("x.json: value 0 is below the minimum 1"));
  CHECK(refuse(R"({"minimum": 1, "description": "Threads."})", "0").hint == "Threads.");
  CHECK_THAT(schema_refusal(R"({"maximum": 8})", "8.5"),
             Contains("value 8.5 is above the maximum 8"));
  CHECK_THAT(schema_refusal(R"({"exclusiveMinimum": 0})", "0"), Contains("value 0 is not above 0"));
  CHECK_THAT(schema_refusal(R"({"exclusiveMaximum": 1})", "1.0"), Contains("is not below 1"));
  CHECK(schema_refusal(R"({"minimum": 1, "maximum": 1})", "1") == "accepted");
}

TEST_CASE("bounds are exact beyond the precision of a double") {
  CHECK(schema_refusal(R"({"maximum": 18446744073709551615})", "18446744073709551615") ==
        "accepted");
  CHECK_THAT(schema_refusal(R"({"maximum": 9223372036854775806})", "9223372036854775807"),
             Contains("above"));
  CHECK(schema_refusal(R"({"minimum": -9223372036854775808})", "-9223372036854775808") ==
        "accepted");
}

TEST_CASE("a wrong type is refused with the expected and actual types") {
  CHECK_THAT(schema_refusal(R"({"type": "object"})", "[1]"),
             Equals("x.json: expected an object, but got array [1]"));
  CHECK_THAT(schema_refusal(R"({"type": ["number", "null"]})", R"("a")"),
             Contains("expected a number or null, but got string \"a\""));
  CHECK_THAT(schema_refusal(R"({"type": "string"})", "null"),
             Contains("expected a string, but got null"));
  CHECK_THAT(schema_refusal(R"({"type": "integer"})", "1.5"),
             Contains("expected an integer, but got number 1.5"));
  CHECK_THAT(schema_refusal(R"({"type": "number"})", "true"), Contains("but got boolean true"));
}

TEST_CASE("1.0 is an integer") {
  CHECK(schema_refusal(R"({"type": "integer"})", "1.0") == "accepted");
}

TEST_CASE("a missing key is named with its description") {
  const auto [what, hint] =
      refuse(R"({"properties": {"a": {"description": "The A."}}, "required": ["a"]})", "{}");
  CHECK_THAT(what, Equals("x.json: 'a' is missing"));
  CHECK(hint == "The A.");
}

TEST_CASE("defaults are filled in, also inside a default") {
  const std::string schema = R"({"properties": {
      "measure": {"default": {}, "properties": {"n": {"default": 20}, "deep": {"default": {}, "properties": {"x": {"default": [1]}}}}},
      "none": {"type": "string"}}})";
  CHECK(filled(schema, "{}") == parsed(R"({"measure": {"n": 20, "deep": {"x": [1]}}})"));
  CHECK(filled(schema, R"({"measure": {"n": 3}})") ==
        parsed(R"({"measure": {"n": 3, "deep": {"x": [1]}}})"));
  CHECK(filled(R"({"items": {"properties": {"a": {"default": 1}}}})", "[{}, {\"a\": 2}]") ==
        parsed(R"([{"a": 1}, {"a": 2}])"));
}

TEST_CASE("a reference is replaced by its definition, including defaults") {
  const std::string schema =
      R"({"$defs": {"m": {"type": "object", "properties": {"n": {"default": 5, "maximum": 9}}}},
      "properties": {"a": {"$ref": "#/$defs/m", "default": {}}}})";
  CHECK(filled(schema, "{}") == parsed(R"({"a": {"n": 5}})"));
  CHECK_THAT(schema_refusal(schema, R"({"a": {"n": 10}})"), Contains("/a/n: value 10 is above"));
}

TEST_CASE("anyOf reports the failure of the intended form") {
  const std::string forms = R"({"anyOf": [
      {"properties": {"kind": {"const": "circle"}, "body": {"properties": {"radius": {"type": "number"}}}}},
      {"properties": {"kind": {"const": "square"}, "body": {"properties": {"side": {"minimum": 1}}}}}]})";
  CHECK_THAT(schema_refusal(forms, R"({"kind": "square", "body": {"side": 0}})"),
             Equals("x.json: /body/side: value 0 is below the minimum 1"));
  CHECK_THAT(schema_refusal(forms, R"({"kind": "circle", "body": {"radus": 0}})"),
             Contains("/body/radus: unknown key"));
  const std::string mixed =
      R"({"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["slots"]}]})";
  CHECK_THAT(schema_refusal(mixed, R"("slot")"), Contains("Did you mean 'slots'?"));
  CHECK_THAT(schema_refusal(mixed, "0"), Contains("below the minimum 1"));
  CHECK(schema_refusal(mixed, "\"slots\"") == "accepted");
  CHECK_THAT(schema_refusal(R"({"anyOf": [{"type": "null"}, {"type": "string"}]})", "1"),
             Contains("expected null or a string, but got number 1"));
}

TEST_CASE("anyOf returns the defaults of the branch that fits") {
  const std::string schema =
      R"({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"default": 1}}}]})";
  CHECK(filled(schema, "{}") == parsed(R"({"a": 1})"));
}

TEST_CASE("lengths count characters and elements") {
  CHECK(schema_refusal(R"({"minLength": 2, "maxLength": 2})", R"("\u00e4\ud83d\ude00")") ==
        "accepted");
  CHECK_THAT(schema_refusal(R"({"minLength": 1})", R"("")"),
             Contains("0 characters, but at least 1"));
  CHECK_THAT(schema_refusal(R"({"maxLength": 1})", R"("ab")"),
             Contains("2 characters, but at most 1"));
  CHECK_THAT(schema_refusal(R"({"minItems": 1})", "[]"), Contains("0 elements, but at least 1"));
  CHECK_THAT(schema_refusal(R"({"maxItems": 1})", "[1, 2]"), Contains("2 elements, but at most 1"));
}

TEST_CASE("elements are unique by value: 1 is 1.0 and not true") {
  CHECK_THAT(schema_refusal(R"({"uniqueItems": true})", R"([1, 2, 1.0])"),
             Contains("is listed twice"));
  CHECK_THAT(schema_refusal(R"({"uniqueItems": true})", R"([{"a": [1]}, {"a": [1]}])"),
             Contains("twice"));
  CHECK(schema_refusal(R"({"uniqueItems": true})", R"([1, true, "1", [1], null])") == "accepted");
  CHECK(schema_refusal(R"({"enum": [1]})", "1.0") == "accepted");
  CHECK(schema_refusal(R"({"enum": [1]})", "true") != "accepted");
}

TEST_CASE("a pattern is searched for, and anchors mean the whole text") {
  CHECK(schema_refusal(R"({"pattern": "b+"})", R"("abc")") == "accepted");
  CHECK_THAT(schema_refusal(R"({"pattern": "^[a-z]+$"})", R"("aB")"),
             Contains("\"aB\" does not match ^[a-z]+$"));
  CHECK(schema_refusal(R"({"pattern": "^[a-z]+$"})", R"("a\nb")") != "accepted");
  CHECK(schema_refusal(R"({"pattern": "^[a-z]+$"})", R"("a\n")") != "accepted");
}

TEST_CASE("a long string with a pattern does not exhaust the stack") {
  const auto quoted = [](std::size_t size) { return dump(Json(std::string(size, 'a'))); };
  const std::string schema = R"({"pattern": "^[a-z0-9][a-z0-9_.-]*$"})";
  CHECK(schema_refusal(schema, quoted(4096)) == "accepted");
  CHECK_THAT(schema_refusal(schema, quoted(4097)), Contains("a string of 4097 bytes is too long"));
  CHECK_THAT(schema_refusal(schema, quoted(1'000'000)), Contains("is too long"));
}

TEST_CASE("a pointer escapes what RFC 6901 escapes and shows no control bytes") {
  CHECK_THAT(schema_refusal(R"({"additionalProperties": {"type": "null"}})", R"({"a/b~c": 1})"),
             Contains("/a~1b~0c:"));
  CHECK_THAT(schema_refusal(R"({"additionalProperties": {"type": "null"}})", R"({"\u001b[2J": 1})"),
             Contains("/\\x1b[2J:"));
}

TEST_CASE("a value inside a larger document is refused with its place there") {
  const Schema schema(parsed(R"({"properties": {"m": {"minimum": 1}}})"), "gemm");
  CHECK_THROWS_WITH(schema.check(parsed(R"({"m": 0})"), "x.json", "/cases/2/params"),
                    "x.json: /cases/2/params/m: value 0 is below the minimum 1");
}

TEST_CASE("a keyword that is not implemented is refused when the schema is read") {
  const auto broken = [](const std::string& schema) {
    try {
      Schema(parsed(schema), "s.json");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(broken(R"({"properties": {"a": {"minimun": 1}}})"),
             Contains("schema s.json: /properties/a/minimun: this keyword is not implemented") &&
                 Contains("Did you mean 'minimum'?"));
  for (const char* schema :
       {R"({"oneOf": []})", R"({"$defs": {"a": {"not": {}}}})", R"({"items": {"if": {}}})",
        R"({"anyOf": [{"format": "date"}]})", R"({"additionalProperties": {"allOf": []}})"})
    CHECK_THAT(broken(schema), Contains("not implemented"));
  for (const char* schema :
       {"1", R"({"type": "int"})", R"({"minimum": "1"})", R"({"enum": []})", R"({"pattern": "("})",
        R"({"required": [1]})", R"({"minLength": -1})", R"({"properties": []})",
        R"({"properties": {"a": 1}})", R"({"$ref": "#/$defs/none"})", R"({"$ref": "other.json"})",
        R"({"anyOf": []})", R"({"items": []})"})
    CHECK_THAT(broken(schema), Contains("schema s.json: "));
}

TEST_CASE("a schema that leads back to itself without end is refused, not followed") {
  CHECK_THAT(schema_refusal(R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})", "1"),
             Contains("references itself"));
  CHECK_THAT(
      schema_refusal(R"({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}})",
                     "1"),
      Contains("references itself"));
  CHECK(schema_refusal(
            R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}}}})",
            "[[[]], []]") == "accepted");
}

TEST_CASE("a schema is named by its file") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "s.json";
  std::ofstream(path) << R"({"typo": 1})";
  CHECK_THROWS_WITH(Schema::load(path), Contains("schema " + path.string() + ": /typo"));
}
