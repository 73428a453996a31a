#include "core/schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace bench {

/// The `pattern`s of a schema, compiled once: that costs more than most checks.
struct Patterns {
  std::map<std::string, std::regex> compiled;
};

namespace {

constexpr std::string_view kDefinitions = "#/$defs/";

/// The target of "#/$defs/x" in `root`; nullptr if there is none.
const Json* find_reference(const Json& root, const std::string& reference) {
  if (!reference.starts_with(kDefinitions)) return nullptr;
  const auto definitions = root.find("$defs");
  if (definitions == root.end()) return nullptr;
  const auto found = definitions->find(reference.substr(kDefinitions.size()));
  return found == definitions->end() ? nullptr : &*found;
}

/// Why a value is invalid. Thrown, because anyOf must backtrack.
struct Mismatch {
  std::string pointer;  // RFC 6901; empty for the whole document
  std::string what;
  std::string hint;
  enum class Kind { type, choice, other } kind = Kind::other;  // choice: const, enum
};

class SchemaChecker {
 public:
  /// `root` is where $ref looks; both are borrowed.
  SchemaChecker(const Json& root, const Patterns& patterns) : root_(root), patterns_(patterns) {}

  /// `value` with defaults filled in; throws Mismatch.
  Json check(const Json& value, const Json& schema, const std::string& at);

 private:
  Json check_keywords_of(Json value, const Json& schema, const std::string& at);
  Json check_any(const Json& value, const Json& schema, const std::string& at);
  void check_object(Json& value, const Json& schema, const std::string& at);
  void check_array(Json& value, const Json& schema, const std::string& at);

  const Json& root_;
  const Patterns& patterns_;
  int depth_ = 0;  // of schemas inside schemas: a $ref that leads to itself has no end
};

/// Limit for text matched against a pattern: std::regex recurses per character.
constexpr std::size_t kLongestPatternText = 4096;

Mismatch wrong_type(const Json& value, const std::string& expected, const std::string& at) {
  const std::string seen = std::string(value.type_name()) + " " + excerpt(value);
  return {at, "expected " + expected + ", but got " + (value.is_null() ? "null" : seen), "",
          Mismatch::Kind::type};
}

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

/// The description in the schema, as a hint.
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

Mismatch missing(const std::string& name, const Json& properties, const std::string& at) {
  const auto property = properties.find(name);
  return {at, "'" + name + "' is missing",
          property != properties.end() && property->is_object() ? description(*property) : ""};
}

/// "an integer or null": the types expected by `schema`; follows $ref.
std::string type_words(const Json& schema, const Json& root) {
  if (!schema.is_object()) return "nothing";
  if (const auto type = schema.find("type"); type != schema.end()) return words_of(*type);
  if (const auto reference = schema.find("$ref"); reference != schema.end())
    return type_words(*find_reference(root, reference->get<std::string>()), root);
  return "another value";
}

/// Throws Mismatch.
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

// Four schemas per level of nesting are more than enough.
constexpr int kDeepest = 4 * kMaxJsonDepth;

/// A key as part of a JSON pointer.
std::string step(const std::string& key) {
  std::string escaped = "/";
  for (const char c : printable(key))
    escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return escaped;
}

/// The schema of unlisted keys. An object with `properties` is closed by default.
Json additional(const Json& schema) {
  const auto stated = schema.find("additionalProperties");
  return stated != schema.end() ? *stated : Json(!schema.contains("properties"));
}

[[noreturn]] void refuse_key(const std::string& key, const Json& schema, const std::string& at) {
  std::vector<std::string> allowed;
  if (const auto properties = schema.find("properties"); properties != schema.end())
    for (const auto& [name, property] : properties->items()) allowed.push_back(name);
  const std::string near = did_you_mean(key, allowed);
  throw Mismatch{
      at + step(key), "unknown key" + (near.empty() ? "" : ";" + near),
      allowed.empty() ? "no key is allowed here" : "allowed keys: " + join(allowed, ", ")};
}

/// Constants first: they select one of several forms.
std::vector<std::string> in_order_of_meaning(const Json& properties) {
  std::vector<std::string> names;
  for (const auto& [name, property] : properties.items()) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return properties[name].is_object() && properties[name].contains("const");
  });
  return names;
}

/// How well a branch of anyOf matched: a mismatch in its type or const is the worst.
std::size_t progress(const Mismatch& mismatch, const std::string& at) {
  const auto depth = static_cast<std::size_t>(
      std::count(mismatch.pointer.begin() + static_cast<std::ptrdiff_t>(at.size()),
                 mismatch.pointer.end(), '/'));
  if (mismatch.kind == Mismatch::Kind::type && depth == 0) return 0;
  if (mismatch.kind == Mismatch::Kind::choice && depth <= 1) return 1;
  return 2 + depth;
}

Json SchemaChecker::check(const Json& value, const Json& schema, const std::string& at) {
  if (schema.is_boolean()) {
    if (!schema.get<bool>())
      throw Mismatch{at, "nothing is allowed here, but got " + excerpt(value), ""};
    return value;
  }
  if (++depth_ > kDeepest) throw Mismatch{at, "the schema references itself", ""};
  Json filled = check_keywords_of(value, schema, at);
  --depth_;
  return filled;
}

Json SchemaChecker::check_keywords_of(Json value, const Json& schema, const std::string& at) {
  check_scalar(value, schema, patterns_, at);
  if (const auto reference = schema.find("$ref"); reference != schema.end())
    value = check(value, *find_reference(root_, reference->get<std::string>()), at);
  if (schema.contains("anyOf")) value = check_any(value, schema, at);
  if (value.is_object()) check_object(value, schema, at);
  if (value.is_array()) check_array(value, schema, at);
  return value;
}

Json SchemaChecker::check_any(const Json& value, const Json& schema, const std::string& at) {
  Mismatch best;
  std::size_t furthest = 0;
  std::vector<std::string> types;
  for (const Json& branch : schema["anyOf"]) {
    const int depth = depth_;
    try {
      return check(value, branch, at);
    } catch (const Mismatch& mismatch) {
      depth_ = depth;
      const std::size_t reached = progress(mismatch, at);
      if (reached == 0) types.push_back(type_words(branch, root_));
      if (best.what.empty() || reached > furthest) {
        best = mismatch;
        furthest = reached;
      }
    }
  }
  if (furthest == 0) best = wrong_type(value, join(types, " or "), at);
  if (best.hint.empty()) best.hint = schema.value("description", "");
  throw best;
}

void SchemaChecker::check_object(Json& value, const Json& schema, const std::string& at) {
  static const Json kNone = Json::object();
  const auto found = schema.find("properties");
  const Json& properties = found == schema.end() ? kNone : *found;
  const Json others = additional(schema);
  for (auto& [key, member] : value.items()) {
    if (properties.contains(key)) continue;
    if (others == Json(false)) refuse_key(key, schema, at);
    member = check(member, others, at + step(key));
  }
  for (const std::string& name : in_order_of_meaning(properties)) {
    const Json& property = properties[name];
    if (value.contains(name)) {
      value[name] = check(value[name], property, at + step(name));
    } else if (property.is_object() && property.contains("default")) {
      value[name] = check(property["default"], property, at + step(name));
    }
  }
  if (const auto required = schema.find("required"); required != schema.end())
    for (const Json& name : *required)
      if (!value.contains(name.get_ref<const std::string&>()))
        throw missing(name.get<std::string>(), properties, at);
}

void SchemaChecker::check_array(Json& value, const Json& schema, const std::string& at) {
  if (const auto items = schema.find("items"); items != schema.end())
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] = check(value[i], *items, at + "/" + std::to_string(i));
}

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
      // Annotations for people, the planner and reports; they never reject a value.
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
      if (!known->second(value)) refuse(at + "/" + keyword, excerpt(value) + " is not valid here");
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

Schema::Schema(Json schema, std::string name) : schema_(std::move(schema)), name_(std::move(name)) {
  auto patterns = std::make_shared<Patterns>();
  KeywordCheck(schema_, name_, *patterns).check(schema_, "");
  patterns_ = std::move(patterns);
}

Schema Schema::load(const std::filesystem::path& path) { return {read_json(path), path.string()}; }

Json Schema::check(const Json& value, const std::string& origin, const std::string& base) const {
  try {
    return SchemaChecker(schema_, *patterns_).check(value, schema_, base);
  } catch (const Mismatch& mismatch) {
    const std::string place = mismatch.pointer.empty() ? "" : ": " + mismatch.pointer;
    throw Error(ErrorKind::input, origin + place + ": " + mismatch.what, mismatch.hint);
  }
}

}  // namespace bench
