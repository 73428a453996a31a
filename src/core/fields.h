// Reads one JSON object whose keys are known. Each getter checks type and range and says where the
// object was wrong; finish() refuses the keys that nobody asked for. Records arrive by the
// thousand, so they are read with this and not with a schema; a test holds the two together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace bench {

/// More elements than this in one array of a record are refused.
inline constexpr std::size_t kMaxArray = 1'000'000;

class Fields {
 public:
  /// Messages begin with `origin` and the JSON pointer: "record: /body/unit: ...". Throws
  /// Error(input) unless `json` is an object. `json` is borrowed and must outlive this.
  Fields(const Json& json, std::string origin, std::string pointer = {});
  /// The same for an object that is the member `key` of this one.
  Fields inside(std::string_view key, const Json& json) const;

  /// Is it there, be it null?
  bool has(std::string_view key);
  /// The member, or nullptr when it is absent or null.
  const Json* find(std::string_view key);
  /// The members below throw Error(input) when they are absent or of another kind.
  const Json& any(std::string_view key);
  const Json& object(std::string_view key);
  const Json& array(std::string_view key);  // at most kMaxArray elements
  std::string text(std::string_view key);
  std::string word(std::string_view key);  // a text that is not empty
  double number(std::string_view key);     // finite
  double at_least(std::string_view key, double low);
  double above(std::string_view key, double low);
  double number_or_nan(std::string_view key);  // null is NaN
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::uint64_t natural(std::string_view key);

  std::string text_or(std::string_view key, std::string fallback);
  std::string one_of(std::string_view key, std::string fallback,
                     const std::vector<std::string>& allowed);
  /// A text that `read` turns into a value; what `read` refuses is refused naming the place.
  template <class Read>
  auto word_as(std::string_view key, Read read) {
    const std::string word = text(key);
    try {
      return read(word);
    } catch (const Error& error) {
      throw Error(error.kind(), where(key) + ": " + error.what(), error.hint());
    }
  }

  /// Throws Error(input) for a key that no getter asked for.
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

/// JSON has no NaN and no infinity: they are written as null.
Json number_or_null(double value);

/// The integer in `json` when it is one (1.0 counts) within low..high, else false.
bool read_integer(const Json& json, std::int64_t low, std::int64_t high, std::int64_t& value);

}  // namespace bench
