#include "core/schema_checker.h"

#include <algorithm>
#include <vector>

#include "core/schema_values.h"
#include "core/text.h"

namespace bench {
namespace {

// Four schemas a level of nesting is more than any schema of ours needs.
constexpr int kDeepest = 4 * kMaxJsonDepth;

/// A key as part of a JSON pointer.
std::string step(const std::string& key) {
  std::string escaped = "/";
  for (const char c : printable(key))
    escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return escaped;
}

/// The schema for a key without one of its own. An object with `properties` is closed unless it
/// says otherwise.
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

/// Choices (const, enum) first: they tell which of several forms is meant.
std::vector<std::string> in_order_of_meaning(const Json& properties) {
  std::vector<std::string> names;
  for (const auto& [name, property] : properties.items()) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return properties[name].is_object() && properties[name].contains("const");
  });
  return names;
}

/// How far a branch of anyOf got: one that failed on what it is (its type, its const) fits worst.
std::size_t progress(const Mismatch& mismatch, const std::string& at) {
  const auto depth = static_cast<std::size_t>(
      std::count(mismatch.pointer.begin() + static_cast<std::ptrdiff_t>(at.size()),
                 mismatch.pointer.end(), '/'));
  if (mismatch.kind == Mismatch::Kind::type && depth == 0) return 0;
  if (mismatch.kind == Mismatch::Kind::choice && depth <= 1) return 1;
  return 2 + depth;
}

}  // namespace

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

}  // namespace bench
