#include "core/schema.h"

#include "core/error.h"
#include "core/schema_checker.h"
#include "core/schema_keywords.h"

namespace bench {

Schema::Schema(Json schema, std::string name) : schema_(std::move(schema)), name_(std::move(name)) {
  patterns_ = std::make_shared<Patterns>(check_keywords(schema_, name_));
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
