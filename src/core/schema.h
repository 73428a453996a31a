// Checks JSON against a schema and fills in defaults. The schemas are a subset of JSON Schema
// 2020-12: type, properties, required, additionalProperties, enum, const, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, uniqueItems, items,
// pattern, default, anyOf, $ref to "#/$defs/name". Annotations (title, description, unit, metrics,
// ...) are ignored. An object with `properties` refuses unknown keys unless additionalProperties
// says otherwise. Why our own checker: its messages name the file, the place, the value, what is
// allowed, and the nearest known name.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>

#include "core/json.h"

namespace bench {

// Which keywords a schema of ours may use, and that each has a sensible value: a misspelt keyword
// must not silently allow everything. Part of core/schema.h.

/// The `pattern`s of a schema, compiled once: that costs more than most checks.
struct Patterns {
  std::map<std::string, std::regex> compiled;
};

/// The patterns found. Throws Error(input) naming the schema, the place and the keyword.
Patterns check_keywords(const Json& schema, const std::string& name);

/// What "#/$defs/x" stands for in `root`; nullptr when there is none.
const Json* find_reference(const Json& root, const std::string& reference);

struct Patterns;

class Schema {
 public:
  /// Throws Error(input) when the schema uses a keyword we do not implement.
  Schema(Json schema, std::string name);
  static Schema load(const std::filesystem::path& path);

  const Json& json() const { return schema_; }
  const std::string& name() const { return name_; }

  /// `value` with defaults filled in. Throws Error(input): "FILE: /cases/0/probe: ...".
  /// `base` is put before the pointer, for a value that lies inside a larger document.
  Json check(const Json& value, const std::string& origin, const std::string& base = "") const;

 private:
  Json schema_;
  std::string name_;
  std::shared_ptr<const Patterns> patterns_;
};

}  // namespace bench
