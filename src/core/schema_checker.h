// Walks a value and a schema together, fills in defaults and says at which place they part. Part of
// core/schema.h, which is what everybody else uses.
#pragma once

#include <string>

#include "core/json.h"
#include "core/schema_keywords.h"

namespace bench {

/// Why a value is refused. Thrown, because anyOf must be able to go back.
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

}  // namespace bench
