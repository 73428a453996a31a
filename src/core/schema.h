// Checks JSON against a schema and fills in defaults. Schemas are a subset of JSON Schema 2020-12:
// type, properties, required, additionalProperties, enum, const, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, uniqueItems, items,
// pattern, default, anyOf, $ref to "#/$defs/name". Annotations (title, description, unit, metrics,
// ...) are ignored. An object with `properties` rejects unknown keys unless additionalProperties
// allows them. Unlike other checkers, messages contain the file, place, value, allowed values and
// nearest known name.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/json.h"

namespace bench {

struct Patterns;

class Schema {
 public:
  /// Throws Error(input) if the schema uses an unsupported or misspelt keyword, or an invalid
  /// value.
  Schema(Json schema, std::string name);
  static Schema load(const std::filesystem::path& path);

  const Json& json() const { return schema_; }
  const std::string& name() const { return name_; }

  /// `value` with defaults filled in. Throws Error(input): "FILE: /cases/0/probe: ...". `base` is
  /// prepended to the pointer, for parts of a larger document.
  Json check(const Json& value, const std::string& origin, const std::string& base = "") const;

 private:
  Json schema_;
  std::string name_;
  std::shared_ptr<const Patterns> patterns_;
};

}  // namespace bench
