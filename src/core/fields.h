// Reads a JSON object with known keys. Getters check type and range and report the place of errors;
// finish() rejects unread keys. Used for records, which arrive by the thousand, instead of a
// schema; a test keeps the two consistent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace bench {

/// Limit on the elements of an array in a record.
inline constexpr std::size_t kMaxArray = 1'000'000;

class Fields {
 public:
  /// Messages begin with `origin` and the JSON pointer: "record: /body/unit: ...". Throws
  /// Error(input) unless `json` is an object. `json` must outlive this object.
  Fields(const Json& json, std::string origin, std::string pointer = {});
  /// Reader of the member `key`, an object.
  Fields inside(std::string_view key, const Json& json) const;

  /// Whether the member exists, even if null.
  bool has(std::string_view key);
  /// The member; nullptr if absent or null.
  const Json* find(std::string_view key);
  /// These throw Error(input) if the member is absent or of another type.
  const Json& any(std::string_view key);
  const Json& object(std::string_view key);
  const Json& array(std::string_view key);  // at most kMaxArray elements
  std::string text(std::string_view key);
  std::string word(std::string_view key);  // non-empty text
  double number(std::string_view key);     // finite
  double at_least(std::string_view key, double low);
  double above(std::string_view key, double low);
  double number_or_nan(std::string_view key);  // null is NaN
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::uint64_t natural(std::string_view key);

  std::string text_or(std::string_view key, std::string fallback);
  std::string one_of(std::string_view key, std::string fallback,
                     const std::vector<std::string>& allowed);
  /// A text converted by `read`, whose errors are reported with the place.
  template <class Read>
  auto word_as(std::string_view key, Read read) {
    const std::string word = text(key);
    try {
      return read(word);
    } catch (const Error& error) {
      throw Error(error.kind(), where(key) + ": " + error.what(), error.hint());
    }
  }

  /// Throws Error(input) for unread keys.
  void finish() const;

  /// "record: /body/unit".
  std::string where(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& expected,
                           const Json& seen) const;

 private:
  std::string here() const;

  const Json& json_;
  std::string origin_;
  std::string pointer_;
  std::vector<std::string> asked_;
};

/// Null for NaN and infinity, which JSON lacks.
Json number_or_null(double value);

/// Extracts an integer (1.0 counts) within low..high; false if there is none.
bool read_integer(const Json& json, std::int64_t low, std::int64_t high, std::int64_t& value);

}  // namespace bench
