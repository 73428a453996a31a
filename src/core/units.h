// Quantities whose unit is part of their type, and the closed list of units a metric may have.
// Values are in SI base units everywhere; only core/text prints prefixes such as "GB/s".
#pragma once

#include <compare>
#include <string_view>

#include "core/names.h"

namespace bench {

template <class Tag>
struct Quantity {
  double value = 0.0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
  /// How often b goes into a.
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;  // floating point operations; a multiply-add counts two
using Ops = Quantity<struct OpsTag>;      // integer operations; a multiply-add counts two
using Cycles = Quantity<struct CyclesTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using OpsPerSecond = Quantity<struct OpsPerSecondTag>;
using Hertz = Quantity<struct HertzTag>;

constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return {amount.value / time.value};
}
constexpr FlopsPerSecond operator/(Flops amount, Seconds time) {
  return {amount.value / time.value};
}
constexpr OpsPerSecond operator/(Ops amount, Seconds time) { return {amount.value / time.value}; }
constexpr Hertz operator/(Cycles amount, Seconds time) { return {amount.value / time.value}; }

/// The unit of a metric as it is written in JSON and in the database.
enum class Unit {
  second,
  byte,
  byte_per_second,
  flop_per_second,
  op_per_second,
  hertz,
  count,
  ratio
};

/// Which way a metric improves; `none` means that any change matters.
enum class Better { higher, lower, none };

inline constexpr NameTable<Unit, 8> kUnits{{{{Unit::second, "s"},
                                             {Unit::byte, "B"},
                                             {Unit::byte_per_second, "B/s"},
                                             {Unit::flop_per_second, "FLOP/s"},
                                             {Unit::op_per_second, "OP/s"},
                                             {Unit::hertz, "Hz"},
                                             {Unit::count, "count"},
                                             {Unit::ratio, "ratio"}}}};
inline constexpr NameTable<Better, 3> kBetter{
    {{{Better::higher, "higher"}, {Better::lower, "lower"}, {Better::none, "none"}}}};

constexpr std::string_view to_string(Unit unit) { return kUnits.name(unit); }
constexpr std::string_view to_string(Better better) { return kBetter.name(better); }
/// Throw Error(input) for a name that is not in the list.
inline Unit unit_from(std::string_view name) { return kUnits.value(name, "unit"); }
inline Better better_from(std::string_view name) { return kBetter.value(name, "direction"); }

}  // namespace bench
