#include "results/import/stated_unit.h"

#include <algorithm>
#include <string>

#include "core/text.h"

namespace bench {
namespace {

struct Prefix {
  std::string_view text;
  double factor;
};

// The longer ones first, so that "Mi" is not taken for "M".
constexpr Prefix kPrefixes[] = {
    {"ki", 1024.0}, {"mi", 1048576.0}, {"gi", 1073741824.0}, {"ti", 1099511627776.0},
    {"k", 1e3},     {"m", 1e6},        {"g", 1e9},           {"t", 1e12},
    {"p", 1e15}};

struct Base {
  std::string_view text;
  StatedUnit unit;
};

constexpr StatedUnit kRate{Unit::byte_per_second, 1.0, Better::higher};
constexpr StatedUnit kFlops{Unit::flop_per_second, 1.0, Better::higher};
constexpr StatedUnit kOps{Unit::op_per_second, 1.0, Better::higher};
constexpr StatedUnit kBytes{Unit::byte, 1.0, Better::none};
constexpr StatedUnit kCount{Unit::count, 1.0, Better::none};
constexpr StatedUnit kHertz{Unit::hertz, 1.0, Better::higher};
constexpr StatedUnit kKilohertz{Unit::hertz, 1e3, Better::higher};
constexpr StatedUnit kPercent{Unit::ratio, 0.01, Better::none};
constexpr StatedUnit kRatio{Unit::ratio, 1.0, Better::none};
constexpr StatedUnit seconds(double factor) { return {Unit::second, factor, Better::lower}; }

constexpr Base kWithPrefix[] = {
    {"b/s", kRate},      {"b/sec", kRate},  {"bps", kRate},    {"bytes/sec", kRate},
    {"bytes/s", kRate},  {"byte/s", kRate}, {"flops", kFlops}, {"flop/s", kFlops},
    {"flops/s", kFlops}, {"iops", kOps},    {"ops", kOps},     {"op/s", kOps},
    {"b", kBytes},       {"bytes", kBytes}, {"hz", kHertz},    {"byte", kBytes}};

constexpr Base kWhole[] = {{"s", seconds(1.0)},
                           {"sec", seconds(1.0)},
                           {"second", seconds(1.0)},
                           {"seconds", seconds(1.0)},
                           {"ms", seconds(1e-3)},
                           {"msec", seconds(1e-3)},
                           {"us", seconds(1e-6)},
                           {"usec", seconds(1e-6)},
                           {"\xc2\xb5s", seconds(1e-6)},
                           {"ns", seconds(1e-9)},
                           {"nsec", seconds(1e-9)},
                           {"min", seconds(60.0)},
                           {"iops", kHertz},
                           {"kiops", kKilohertz},
                           {"1/s", kHertz},
                           {"messages/s", kHertz},
                           {"samples/s", kHertz},
                           {"images/s", kHertz},
                           {"%", kPercent},
                           {"ratio", kRatio},
                           {"x", kRatio},
                           {"count", kCount},
                           {"", kCount}};

/// "Gb/s" counts bits: a lower-case b after a prefix. All-lower-case "mb/s" is bytes.
bool counts_bits(std::string_view text) {
  if (text.find("bit") != std::string_view::npos || text.find("Bit") != std::string_view::npos)
    return true;
  const std::size_t at = text.find('b');
  if (at == 0 || at == std::string_view::npos || at + 1 >= text.size()) return false;
  return text[at + 1] == 'p' || (text[at + 1] == '/' && text[0] >= 'A' && text[0] <= 'Z');
}

}  // namespace

std::optional<StatedUnit> stated_unit(std::string_view text) {
  if (counts_bits(text)) return {};
  const std::string lower = to_lower(text);
  for (const Base& base : kWhole)
    if (lower == base.text) return base.unit;
  for (const Base& base : kWithPrefix)
    if (lower == base.text) return base.unit;
  for (const Prefix& prefix : kPrefixes) {
    if (!lower.starts_with(prefix.text)) continue;
    const bool binary = prefix.text.size() == 2;  // of bytes only
    for (const Base& base : kWithPrefix)
      if (std::string_view(lower).substr(prefix.text.size()) == base.text &&
          (!binary || base.text.front() == 'b'))
        return StatedUnit{base.unit.unit, prefix.factor, base.unit.better};
  }
  return {};
}

}  // namespace bench
