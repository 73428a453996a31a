#include "results/output/run/gemm_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_fields.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

bool was_chosen(const Json& library) { return field(library, "chosen") == Json(true); }

std::string words_of_library(const Json& library, Unit unit) {
  const std::string version = text_field(library, "version");
  return fmt::format("{}{}{} {}", text_field(library, "library", "?"), version.empty() ? "" : " ",
                     version, format(number_field(library, "flops"), unit));
}

/// What kind of GEMM was tried: "bf16, 2 threads, avx512, not packed".
std::string words_of_kind(const Json& trial) {
  const std::int64_t threads = integer_field(trial, "threads", 1);
  const std::string isa = text_field(trial, "isa", "best");
  return fmt::format("{}, {} {}{}{}", text_field(trial, "dtype", "?"), threads,
                     threads == 1 ? "thread" : "threads", isa == "best" ? "" : ", " + isa,
                     field(trial, "packed") == Json(false) ? ", not packed" : "");
}

/// Whether a library computed a wrong result.
bool is_wrong(const Json& trial) {
  const Json& libraries = array_field(trial, "libraries");
  return std::ranges::any_of(libraries,
                             [](const Json& one) { return field(one, "wrong") == Json(true); });
}

/// The library that was used knows an older CPU than this one.
std::string advice(const Json& trial, const Json& chosen) {
  const std::string cpu = text_field(trial, "cpu_isa"), used = text_field(chosen, "isa");
  if (cpu != "avx512" || used != "avx2" || text_field(trial, "isa") != "best") return "";
  for (const Json& library : array_field(trial, "libraries"))
    if (text_field(library, "isa") == "avx512") return "";
  return fmt::format(
      "; it runs {} kernels on a CPU with {}: a newer library may know this CPU "
      "(scripts/install --fastest)",
      used, cpu);
}

std::string line_of(const Json& trial) {
  const Json* chosen = nullptr;
  const bool integers = text_field(trial, "dtype").starts_with("int");
  const Unit unit = integers ? Unit::op_per_second : Unit::flop_per_second;
  std::vector<std::string> others, wrong, not_tried;
  for (const Json& library : array_field(trial, "libraries")) {
    if (was_chosen(library))
      chosen = &library;
    else if (field(library, "wrong") == Json(true))
      wrong.push_back(text_field(library, "library", "?"));
    else if (std::isfinite(number_field(library, "flops")))
      others.push_back(words_of_library(library, unit));
    else if (const std::string reason = text_field(library, "reason"); !reason.empty())
      not_tried.push_back(reason);
  }
  if (chosen == nullptr) return "";
  const std::string warning = advice(trial, *chosen);
  if (others.empty() && wrong.empty() && not_tried.empty() && warning.empty()) return "";
  return fmt::format("{}: {} in a trial{}{}{}{}{}", words_of_kind(trial),
                     words_of_library(*chosen, unit),
                     others.empty() ? "" : "; others: ", join(others, ", "),
                     wrong.empty() ? "" : "; WRONG RESULT, not used: " + join(wrong, ", "),
                     not_tried.empty() ? "" : "; not tried: " + join(not_tried, "; "), warning);
}

}  // namespace

Lines gemm_lines(const Json& facts) {
  Lines lines;
  for (const Json& trial : array_field(facts, "trials"))
    if (const std::string line = line_of(trial); !line.empty())
      lines.lines.push_back({line, is_wrong(trial) ? Tone::bad : Tone::faint});
  for (const Json& problem : array_field(facts, "problems"))
    if (problem.is_string())
      lines.lines.push_back({"not loaded: " + problem.get<std::string>(), Tone::unsure});
  return lines;
}

}  // namespace bench
