// What a run's report says of results that must be equal bit for bit: nothing where there are none.
#include <fmt/format.h>

#include "core/text.h"
#include "results/reports/run_report_text.h"

namespace bench {

std::string hashes_text(const RunReport& report, const TextStyle& style) {
  if (report.hashes.empty()) return "";
  const Json summary = hashes_json(report.hashes);
  std::vector<std::string> parts = {fmt::format("{} hashes kept", report.hashes.size())};
  const std::vector<std::string> unlike = unlike_golden(report.hashes);
  if (const auto n = summary["golden"].get<std::size_t>(); n > 0)
    parts.push_back(fmt::format("{} equal to the golden value", n));
  if (!unlike.empty()) parts.push_back(fmt::format("{} unlike the golden value", unlike.size()));
  for (const std::string& missing : without_golden(report.hashes))
    parts.push_back(printable(missing));
  std::string text = fmt::format("\n{}\n    {}\n", paint("bits of results", Paint::bold, style),
                                 wrap(join(parts, "; "), 4, 4, style));
  for (const auto& findings : {unlike, disagreements(report.hashes)})
    for (const std::string& one : findings)
      text += "    " + paint(wrap(printable(one), 4, 6, style), Paint::red, style) + "\n";
  return text;
}

}  // namespace bench
