#include "core/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

[[noreturn]] void refuse_time(std::string_view text) {
  throw Error(ErrorKind::input, "'" + printable(text.substr(0, 40)) + "' is not a valid time",
              "use the form 2026-11-20T18:30:05Z");
}

/// Takes pieces off the front of a text; a missing piece is an error.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : whole_(text), rest_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    const std::string_view piece = rest_.substr(0, count);
    if (piece.size() != count || !std::ranges::all_of(piece, is_digit)) refuse_time(whole_);
    std::from_chars(piece.data(), piece.data() + count, value);
    rest_.remove_prefix(count);
    return value;
  }
  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse_time(whole_);
  }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view whole_;
  std::string_view rest_;
};

std::int64_t fraction_ns(Cursor& cursor) {
  if (!cursor.accept('.')) return 0;
  std::int64_t value = cursor.digits(1) * (kSecond / 10);
  for (std::int64_t place = kSecond / 100; cursor.at_digit(); place /= 10)
    value += cursor.digits(1) * place;
  return value;
}

std::chrono::minutes zone(Cursor& cursor) {
  if (cursor.accept('Z')) return {};
  const bool east = cursor.accept('+');
  if (!east) cursor.expect('-');
  const int hours = cursor.digits(2);
  cursor.expect(':');
  const std::chrono::minutes offset(hours * 60 + cursor.digits(2));
  return east ? offset : -offset;
}

}  // namespace

std::string format_time(std::int64_t time_ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> moment{nanoseconds(time_ns)};
  const auto day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(moment) - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string compact_time(std::int64_t time_ns) {
  std::string text = format_time(time_ns);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::int64_t parse_time(std::string_view text) {
  using namespace std::chrono;
  Cursor cursor(text);
  const int year_number = cursor.digits(4);
  cursor.expect('-');
  const int month_number = cursor.digits(2);
  cursor.expect('-');
  const int day_number = cursor.digits(2);
  cursor.expect('T');
  const hours hour(cursor.digits(2));
  cursor.expect(':');
  const minutes minute(cursor.digits(2));
  cursor.expect(':');
  const seconds second(cursor.digits(2));
  const std::int64_t fraction = fraction_ns(cursor);
  const minutes offset = zone(cursor);
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number)));
  // Nanoseconds since 1970 fit into 64 bits from 1678 to 2261. A leap second is second 60.
  if (!cursor.at_end() || !date.ok() || year_number < 1678 || year_number > 2261 ||
      hour.count() > 23 || minute.count() > 59 || second.count() > 60)
    refuse_time(text);
  const sys_seconds moment = sys_days(date) + hour + minute + second - offset;
  return moment.time_since_epoch().count() * kSecond + fraction;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace bench
