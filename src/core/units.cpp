#include "core/units.h"

#include "core/names.h"

namespace bench {
namespace {

constexpr NameTable<Unit, 8> kUnits{{{{Unit::second, "s"},
                                      {Unit::byte, "B"},
                                      {Unit::byte_per_second, "B/s"},
                                      {Unit::flop_per_second, "FLOP/s"},
                                      {Unit::op_per_second, "OP/s"},
                                      {Unit::hertz, "Hz"},
                                      {Unit::count, "count"},
                                      {Unit::ratio, "ratio"}}}};

constexpr NameTable<Better, 3> kBetter{
    {{{Better::higher, "higher"}, {Better::lower, "lower"}, {Better::none, "none"}}}};

}  // namespace

std::string_view to_string(Unit unit) { return kUnits.name(unit); }
std::string_view to_string(Better better) { return kBetter.name(better); }
Unit unit_from(std::string_view name) { return kUnits.value(name, "unit"); }
Better better_from(std::string_view name) { return kBetter.value(name, "direction"); }

}  // namespace bench
