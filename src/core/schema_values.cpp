#include "core/schema_values.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <vector>

#include "core/json_text.h"
#include "core/schema_keywords.h"
#include "core/text.h"

namespace bench {
namespace {

// long double holds every int64, uint64 and double exactly on x86-64 and aarch64.
long double exact(const Json& number) {
  if (number.is_number_unsigned()) return static_cast<long double>(number.get<std::uint64_t>());
  if (number.is_number_integer()) return static_cast<long double>(number.get<std::int64_t>());
  return static_cast<long double>(number.get<double>());
}

bool is_whole_number(const Json& value) {
  if (!value.is_number_float()) return value.is_number_integer();
  const double number = value.get<double>();
  return std::isfinite(number) && number == std::trunc(number);
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "integer") return is_whole_number(value);
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

std::string with_article(const std::string& type) {
  if (type == "null") return type;
  return (type == "integer" || type == "array" || type == "object" ? "an " : "a ") + type;
}

std::string words_of(const Json& type) {
  if (type.is_string()) return with_article(type.get<std::string>());
  std::vector<std::string> words;
  for (const Json& one : type) words.push_back(with_article(one.get<std::string>()));
  return join(words, " or ");
}

/// The sentence that describes the value, for the reader who got it wrong.
std::string description(const Json& schema) { return schema.value("description", ""); }

void check_type(const Json& value, const Json& schema, const std::string& at) {
  const auto type = schema.find("type");
  if (type == schema.end()) return;
  const bool fits = type->is_string()
                        ? has_type(value, type->get<std::string>())
                        : std::any_of(type->begin(), type->end(), [&](const Json& one) {
                            return has_type(value, one.get<std::string>());
                          });
  if (fits) return;
  Mismatch mismatch = wrong_type(value, words_of(*type), at);
  mismatch.hint = description(schema);
  throw mismatch;
}

[[noreturn]] void refuse_choice(const Json& value, const Json& choices, const std::string& at) {
  std::vector<std::string> texts;
  std::vector<std::string> shown;
  for (const Json& choice : choices) {
    if (choice.is_string()) texts.push_back(choice.get<std::string>());
    shown.push_back(text_of(choice));
  }
  const std::string near = value.is_string() ? did_you_mean(value.get<std::string>(), texts) : "";
  throw Mismatch{at,
                 excerpt(value) + " is not allowed; use " + (shown.size() > 1 ? "one of: " : "") +
                     join(shown, ", ") + (near.empty() ? "" : "." + near),
                 "", Mismatch::Kind::choice};
}

void check_choices(const Json& value, const Json& schema, const std::string& at) {
  if (const auto expected = schema.find("const"); expected != schema.end() && value != *expected)
    refuse_choice(value, Json::array({*expected}), at);
  if (const auto choices = schema.find("enum"); choices != schema.end())
    if (std::find(choices->begin(), choices->end(), value) == choices->end())
      refuse_choice(value, *choices, at);
}

void check_range(const Json& value, const Json& schema, const std::string& at) {
  const long double number = exact(value);
  const auto refuse_if = [&](const char* keyword, auto broken, const std::string& words) {
    const auto bound = schema.find(keyword);
    if (bound == schema.end() || !broken(number, exact(*bound))) return;
    throw Mismatch{at, "value " + excerpt(value) + " " + words + " " + dump(*bound),
                   description(schema)};
  };
  refuse_if("minimum", std::less<>(), "is below the minimum");
  refuse_if("maximum", std::greater<>(), "is above the maximum");
  refuse_if("exclusiveMinimum", std::less_equal<>(), "is not above");
  refuse_if("exclusiveMaximum", std::greater_equal<>(), "is not below");
}

void check_count(std::size_t count, const Json& schema, const char* least, const char* most,
                 const std::string& what, const std::string& at) {
  if (const auto bound = schema.find(least);
      bound != schema.end() && count < bound->get<std::size_t>())
    throw Mismatch{
        at, std::to_string(count) + " " + what + ", but at least " + dump(*bound) + " needed",
        description(schema)};
  if (const auto bound = schema.find(most);
      bound != schema.end() && count > bound->get<std::size_t>())
    throw Mismatch{
        at, std::to_string(count) + " " + what + ", but at most " + dump(*bound) + " allowed",
        description(schema)};
}

void check_text(const Json& value, const Json& schema, const Patterns& patterns,
                const std::string& at) {
  const auto& text = value.get_ref<const std::string&>();
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation byte
  });
  check_count(static_cast<std::size_t>(characters), schema, "minLength", "maxLength", "characters",
              at);
  const auto pattern = schema.find("pattern");
  if (pattern == schema.end()) return;
  if (text.size() > kLongestPatternText)
    throw Mismatch{at, "a string of " + std::to_string(text.size()) + " bytes is too long", ""};
  if (!std::regex_search(text, patterns.compiled.at(pattern->get<std::string>())))
    throw Mismatch{at, excerpt(value) + " does not match " + pattern->get<std::string>(),
                   description(schema)};
}

void check_unique(const Json& value, const std::string& at) {
  std::vector<const Json*> sorted;
  for (const Json& element : value) sorted.push_back(&element);
  std::sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) { return *a < *b; });
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end(),
                                       [](const Json* a, const Json* b) { return *a == *b; });
  if (twin != sorted.end()) throw Mismatch{at, excerpt(**twin) + " is listed twice", ""};
}

}  // namespace

Mismatch wrong_type(const Json& value, const std::string& expected, const std::string& at) {
  const std::string seen = std::string(value.type_name()) + " " + excerpt(value);
  return {at, "expected " + expected + ", but got " + (value.is_null() ? "null" : seen), "",
          Mismatch::Kind::type};
}

Mismatch missing(const std::string& name, const Json& properties, const std::string& at) {
  const auto property = properties.find(name);
  return {at, "'" + name + "' is missing",
          property != properties.end() && property->is_object() ? description(*property) : ""};
}

std::string type_words(const Json& schema, const Json& root) {
  if (!schema.is_object()) return "nothing";
  if (const auto type = schema.find("type"); type != schema.end()) return words_of(*type);
  if (const auto reference = schema.find("$ref"); reference != schema.end())
    return type_words(*find_reference(root, reference->get<std::string>()), root);
  return "another value";
}

void check_scalar(const Json& value, const Json& schema, const Patterns& patterns,
                  const std::string& at) {
  check_type(value, schema, at);
  check_choices(value, schema, at);
  if (value.is_number()) check_range(value, schema, at);
  if (value.is_string()) check_text(value, schema, patterns, at);
  if (value.is_array()) {
    check_count(value.size(), schema, "minItems", "maxItems", "elements", at);
    if (schema.value("uniqueItems", false)) check_unique(value, at);
  }
}

}  // namespace bench
