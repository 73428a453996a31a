// Diagnoses on a terminal.
#include <fmt/format.h>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"

namespace bench::diagnosis {
namespace {

Paint colour_of(const Diagnosis& diagnosis) {
  if (diagnosis.healthy()) return Paint::green;
  return diagnosis.bottleneck ? Paint::red : Paint::yellow;
}

std::string block(const Diagnosed& one, const TextStyle& style) {
  constexpr std::size_t kIndent = 23;
  std::string text =
      "    " + paint(wrap(printable(title_of(one.observation)), 4, 6, style), Paint::bold, style) +
      "\n";
  Paint colour = colour_of(one.diagnosis);
  for (const auto& [label, words] : lines_of(one)) {
    text += "      " + paint(fmt::format("{:<17}", label), Paint::dim, style) +
            paint(wrap(printable(words), kIndent, kIndent, style), colour, style) + "\n";
    colour = Paint::none;  // the first line is the verdict
  }
  return text;
}

}  // namespace

std::string to_text(const std::vector<Diagnosed>& list, const TextStyle& style) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", paint("bottleneck analysis", Paint::bold, style));
  for (const Diagnosed& one : list) text += block(one, style);
  return text;
}

}  // namespace bench::diagnosis
