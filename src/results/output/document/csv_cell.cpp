#include "results/output/document/csv_cell.h"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

constexpr std::string_view kFormulas = "=+-@\t\r\n";

bool is_formula(std::string_view text) {
  return !text.empty() && kFormulas.find(text.front()) != std::string_view::npos;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool formula = is_formula(text);
  if (!formula && !text.starts_with(' ') && text.find_first_of(",\"\r\n") == std::string::npos)
    return std::string(text);
  std::string quoted = formula ? "\"'" : "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string_view csv_text(std::string_view cell) {
  return cell.starts_with('\'') && is_formula(cell.substr(1)) ? cell.substr(1) : cell;
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

}  // namespace bench
