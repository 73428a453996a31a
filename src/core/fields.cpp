#include "core/fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"

namespace bench {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

bool read_integer(const Json& json, std::int64_t low, std::int64_t high, std::int64_t& value) {
  if (json.is_number_unsigned()) {
    const auto natural = json.get<std::uint64_t>();
    if (natural > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return false;
    value = static_cast<std::int64_t>(natural);
  } else if (json.is_number_integer()) {
    value = json.get<std::int64_t>();
  } else if (json.is_number_float()) {
    const double real = json.get<double>();
    if (std::trunc(real) != real || !(std::abs(real) < 0x1p63)) return false;  // NaN too
    value = static_cast<std::int64_t>(real);
  } else {
    return false;
  }
  return value >= low && value <= high;
}

Fields::Fields(const Json& json, std::string origin, std::string pointer)
    : json_(json), origin_(std::move(origin)), pointer_(std::move(pointer)) {
  if (!json.is_object())
    throw Error(ErrorKind::input, here() + ": expected an object, but got " + excerpt(json));
}

Fields Fields::inside(std::string_view key, const Json& json) const {
  return {json, origin_, pointer_ + "/" + std::string(key)};
}

std::string Fields::where(std::string_view key) const {
  return origin_ + ": " + pointer_ + "/" + std::string(key);
}

std::string Fields::here() const { return pointer_.empty() ? origin_ : origin_ + ": " + pointer_; }

void Fields::refuse(std::string_view key, const std::string& expected, const Json& seen) const {
  throw Error(ErrorKind::input,
              where(key) + ": expected " + expected + ", but got " + excerpt(seen));
}

bool Fields::has(std::string_view key) {
  asked_.emplace_back(key);
  return json_.contains(asked_.back());
}

const Json* Fields::find(std::string_view key) {
  asked_.emplace_back(key);
  const auto member = json_.find(asked_.back());
  return member == json_.end() || member->is_null() ? nullptr : &*member;
}

const Json& Fields::any(std::string_view key) {
  asked_.emplace_back(key);
  const auto member = json_.find(asked_.back());
  if (member == json_.end())
    throw Error(ErrorKind::input, here() + ": '" + asked_.back() + "' is missing");
  return *member;
}

const Json& Fields::object(std::string_view key) {
  const Json& member = any(key);
  if (!member.is_object()) refuse(key, "an object", member);
  return member;
}

const Json& Fields::array(std::string_view key) {
  const Json& member = any(key);
  if (!member.is_array()) refuse(key, "an array", member);
  if (member.size() > kMaxArray)
    throw Error(ErrorKind::input, where(key) + ": " + std::to_string(member.size()) +
                                      " elements exceed the limit of " + std::to_string(kMaxArray));
  return member;
}

std::string Fields::text(std::string_view key) {
  const Json& member = any(key);
  if (!member.is_string()) refuse(key, "a string", member);
  return member.get<std::string>();
}

std::string Fields::word(std::string_view key) {
  std::string value = text(key);
  if (value.empty()) refuse(key, "a name", value);
  return value;
}

double Fields::number(std::string_view key) {
  const Json& member = any(key);
  const double value = member.is_number() ? member.get<double>() : NAN;
  if (!std::isfinite(value)) refuse(key, "a number", member);
  return value;
}

double Fields::at_least(std::string_view key, double low) {
  const double value = number(key);
  if (value < low) refuse(key, "a number of at least " + dump(low), value);
  return value;
}

double Fields::above(std::string_view key, double low) {
  const double value = number(key);
  if (value <= low) refuse(key, "a number above " + dump(low), value);
  return value;
}

double Fields::number_or_nan(std::string_view key) {
  return any(key).is_null() ? std::nan("") : number(key);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Json& member = any(key);
  std::int64_t value = 0;
  if (!read_integer(member, low, high, value))
    refuse(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high), member);
  return value;
}

std::uint64_t Fields::natural(std::string_view key) {
  const Json& member = any(key);
  if (member.is_number_unsigned()) return member.get<std::uint64_t>();
  return static_cast<std::uint64_t>(integer(key, 0, std::numeric_limits<std::int64_t>::max()));
}

std::string Fields::text_or(std::string_view key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}

std::string Fields::one_of(std::string_view key, std::string fallback,
                           const std::vector<std::string>& allowed) {
  std::string value = text_or(key, std::move(fallback));
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw Error(
        ErrorKind::input,
        where(key) + ": " + excerpt(value) + " is not allowed" + did_you_mean(value, allowed),
        "use one of: " + join(allowed, ", "));
  return value;
}

void Fields::finish() const {
  for (const auto& [key, value] : json_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      throw Error(ErrorKind::input,
                  where(printable(key)) + ": unknown key" + did_you_mean(key, asked_));
}

}  // namespace bench
