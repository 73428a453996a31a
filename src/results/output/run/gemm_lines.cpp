#include "results/output/run/gemm_lines.h"

#include <fmt/format.h>

#include "core/json_fields.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

bool was_chosen(const Json& library) { return field(library, "chosen") == Json(true); }

std::string words_of_library(const Json& library) {
  return fmt::format("{} {} {}", text_field(library, "library", "?"),
                     text_field(library, "version"),
                     format(number_field(library, "flops"), Unit::flop_per_second));
}

/// The library that was used knows an older CPU than this one.
std::string advice(const Json& trial, const Json& chosen) {
  const std::string cpu = text_field(trial, "cpu_isa"), used = text_field(chosen, "isa");
  if (cpu != "avx512" || used != "avx2" || text_field(trial, "isa") != "best") return "";
  for (const Json& library : array_field(trial, "libraries"))
    if (text_field(library, "isa") == "avx512") return "";
  return fmt::format(
      "; it runs {} kernels on a CPU with {}: a newer OpenBLAS may know this CPU "
      "(scripts/install --fastest)",
      used, cpu);
}

std::string line_of(const Json& trial) {
  const Json* chosen = nullptr;
  std::vector<std::string> others, not_tried;
  for (const Json& library : array_field(trial, "libraries")) {
    if (was_chosen(library))
      chosen = &library;
    else if (std::isfinite(number_field(library, "flops")))
      others.push_back(words_of_library(library));
    else if (const std::string reason = text_field(library, "reason"); !reason.empty())
      not_tried.push_back(reason);
  }
  if (chosen == nullptr) return "";
  const std::string warning = advice(trial, *chosen);
  if (others.empty() && not_tried.empty() && warning.empty()) return "";
  const std::int64_t threads = integer_field(trial, "threads", 1);
  return fmt::format("{}, {} {}: {} in a trial{}{}{}{}", text_field(trial, "dtype", "?"), threads,
                     threads == 1 ? "thread" : "threads", words_of_library(*chosen),
                     others.empty() ? "" : "; others: ", join(others, ", "),
                     not_tried.empty() ? "" : "; not tried: " + join(not_tried, "; "), warning);
}

}  // namespace

Lines gemm_lines(const Json& facts) {
  Lines lines;
  for (const Json& trial : array_field(facts, "trials"))
    if (const std::string line = line_of(trial); !line.empty())
      lines.lines.push_back({line, Tone::faint});
  return lines;
}

}  // namespace bench
