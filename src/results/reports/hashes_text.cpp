// Report section on results that must be bitwise equal; empty if there are none.
#include <fmt/format.h>

#include "core/text.h"
#include "results/reports/run_report_text.h"

namespace bench {

std::string hashes_text(const RunReport& report, const TextStyle& style) {
  if (report.hashes.empty()) return "";
  const Json summary = hashes_json(report.hashes);
  std::vector<std::string> parts = {fmt::format("{} hashes recorded", report.hashes.size())};
  if (const auto n = summary["golden"].get<std::size_t>(); n > 0)
    parts.push_back(fmt::format("{} match the golden value", n));
  if (const auto n = summary["different"].size(); n > 0)
    parts.push_back(fmt::format("{} differ from the golden value", n));
  for (const Json& missing : summary["without_golden"])
    parts.push_back(printable(missing.get<std::string>()));
  std::string text = fmt::format("\n{}\n    {}\n", paint("result hashes", Paint::bold, style),
                                 wrap(join(parts, "; "), 4, 4, style));
  for (const char* findings : {"different", "disagreements"})
    for (const Json& one : summary[findings])
      text += "    " +
              paint(wrap(printable(one.get<std::string>()), 4, 6, style), Paint::red, style) + "\n";
  return text;
}

}  // namespace bench
