#include "runner/nightly/time_text.h"

#include <charconv>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr double kYear = 366 * 86400.0;
const std::map<char, double> kSeconds = {{'d', 86400.0}, {'h', 3600.0}, {'m', 60.0}, {'s', 1.0}};

[[noreturn]] void refuse(const std::string& text, const std::string& option, const char* hint) {
  throw Error(ErrorKind::usage, option + ": invalid time '" + printable(text.substr(0, 40)) + "'",
              hint);
}

}  // namespace

Seconds seconds_from(const std::string& text, const std::string& option) {
  constexpr const char* kHint = "for example 30m, 1h30m, 45s or 90 (seconds), at most a year";
  double sum = 0.0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    double number = 0.0;
    const auto [behind, failure] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (failure != std::errc() || !(number >= 0.0)) refuse(text, option, kHint);
    at = behind;
    const auto unit = at == end ? kSeconds.find('s') : kSeconds.find(*at);
    if (unit == kSeconds.end()) refuse(text, option, kHint);
    if (at != end) ++at;
    sum += number * unit->second;
  }
  if (!(sum > 0.0) || sum > kYear) refuse(text, option, kHint);
  return Seconds{sum};
}

TimeOfDay time_of_day_from(const std::string& text, const std::string& option) {
  constexpr const char* kHint = "expected HH:MM, from 00:00 to 23:59";
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.size() != colon + 3)
    refuse(text, option, kHint);
  TimeOfDay time;
  const auto number = [&](const char* from, const char* to, int most) {
    int value = -1;
    const auto [behind, failure] = std::from_chars(from, to, value);
    if (failure != std::errc() || behind != to || value < 0 || value > most)
      refuse(text, option, kHint);
    return value;
  };
  time.hour = number(text.data(), text.data() + colon, 23);
  time.minute = number(text.data() + colon + 1, text.data() + text.size(), 59);
  return time;
}

}  // namespace bench
