#include "core/schema_keywords.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::string_view kDefinitions = "#/$defs/";
constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "integer", "number",
                                                    "string", "array",   "object"};

bool is_type(const Json& value) {
  if (value.is_array()) return !value.empty() && std::all_of(value.begin(), value.end(), is_type);
  return value.is_string() && std::find(kTypes.begin(), kTypes.end(),
                                        value.get_ref<const std::string&>()) != kTypes.end();
}

bool is_count(const Json& value) { return value.is_number_unsigned(); }
bool is_number(const Json& value) { return value.is_number(); }
bool is_object(const Json& value) { return value.is_object(); }
bool is_array(const Json& value) { return value.is_array() && !value.empty(); }
bool is_boolean(const Json& value) { return value.is_boolean(); }
bool is_text(const Json& value) { return value.is_string(); }
bool is_schema(const Json& value) { return value.is_object() || value.is_boolean(); }
bool is_anything(const Json&) { return true; }

bool is_names(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_text);
}

using Test = bool (*)(const Json&);

const std::map<std::string, Test>& keywords() {
  static const std::map<std::string, Test> known = {
      {"$ref", is_text},
      {"$defs", is_object},
      {"additionalProperties", is_schema},
      {"anyOf", is_array},
      {"const", is_anything},
      {"enum", is_array},
      {"exclusiveMaximum", is_number},
      {"exclusiveMinimum", is_number},
      {"items", is_schema},
      {"maxItems", is_count},
      {"maxLength", is_count},
      {"maximum", is_number},
      {"minItems", is_count},
      {"minLength", is_count},
      {"minimum", is_number},
      {"pattern", is_text},
      {"properties", is_object},
      {"required", is_names},
      {"type", is_type},
      {"uniqueItems", is_boolean},
      // Annotations: for people, for the planner and for reports; they never refuse a value.
      {"$id", is_text},
      {"$schema", is_text},
      {"default", is_anything},
      {"description", is_text},
      {"devices", is_anything},
      {"environment", is_anything},
      {"examples", is_anything},
      {"metrics", is_anything},
      {"open_ended", is_boolean},
      {"process", is_boolean},
      {"title", is_text},
      {"unit", is_text}};
  return known;
}

class KeywordCheck {
 public:
  KeywordCheck(const Json& root, const std::string& name, Patterns& patterns)
      : root_(root), name_(name), patterns_(patterns) {}

  void check(const Json& schema, const std::string& at) const {
    if (schema.is_boolean()) return;
    if (!schema.is_object())
      refuse(at, "a schema must be an object or a boolean, but got " + excerpt(schema));
    for (const auto& [keyword, value] : schema.items()) {
      const auto known = keywords().find(keyword);
      if (known == keywords().end()) refuse_keyword(at, keyword);
      if (!known->second(value))
        refuse(at + "/" + keyword, excerpt(value) + " is not valid here");
      descend(keyword, value, at + "/" + keyword);
    }
  }

 private:
  void descend(const std::string& keyword, const Json& value, const std::string& at) const {
    if (keyword == "properties" || keyword == "$defs")
      for (const auto& [name, schema] : value.items()) check(schema, at + "/" + name);
    if (keyword == "items" || keyword == "additionalProperties") check(value, at);
    if (keyword == "anyOf")
      for (std::size_t i = 0; i < value.size(); ++i) check(value[i], at + "/" + std::to_string(i));
    if (keyword == "pattern") compile(value.get<std::string>(), at);
    if (keyword == "$ref" && find_reference(root_, value.get<std::string>()) == nullptr)
      refuse(at, "undefined reference " + excerpt(value));
  }

  void compile(const std::string& pattern, const std::string& at) const try {
    patterns_.compiled.try_emplace(pattern, pattern);
  } catch (const std::regex_error&) {
    refuse(at, pattern + " is not a regular expression");
  }

  [[noreturn]] void refuse(const std::string& at, const std::string& why) const {
    throw Error(ErrorKind::input, "schema " + name_ + ": " + (at.empty() ? "" : at + ": ") + why);
  }

  [[noreturn]] void refuse_keyword(const std::string& at, const std::string& keyword) const {
    std::vector<std::string> names;
    for (const auto& [known, test] : keywords()) names.push_back(known);
    throw Error(ErrorKind::input,
                "schema " + name_ + ": " + at + "/" + keyword +
                    ": this keyword is not implemented" + did_you_mean(keyword, names),
                "use: " + join(names, ", "));
  }

  const Json& root_;
  const std::string& name_;
  Patterns& patterns_;
};

}  // namespace

const Json* find_reference(const Json& root, const std::string& reference) {
  if (!reference.starts_with(kDefinitions)) return nullptr;
  const auto definitions = root.find("$defs");
  if (definitions == root.end()) return nullptr;
  const auto found = definitions->find(reference.substr(kDefinitions.size()));
  return found == definitions->end() ? nullptr : &*found;
}

Patterns check_keywords(const Json& schema, const std::string& name) {
  Patterns patterns;
  KeywordCheck(schema, name, patterns).check(schema, "");
  return patterns;
}

}  // namespace bench
