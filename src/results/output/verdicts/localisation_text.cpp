#include "results/output/verdicts/localisation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hostlist.h"
#include "core/text.h"
#include "results/verdicts/localisation/incident.h"

namespace bench {
namespace {

std::string hosts_text(const std::vector<Hosts>& sets) {
  std::vector<std::string> parts;
  for (const Hosts& set : sets) parts.push_back(compact_hostlist(set));
  return join(parts, "; ");
}

std::string progress_text(const Localisation& one) {
  const Incident& incident = one.incident;
  std::string text = fmt::format("{} search {}, {:.1f} s", incident.searched,
                                 incident.searched == 1 ? "job" : "jobs", incident.searched_s);
  if (one.spent)
    text += "; budget exhausted, not yet searched: " + hosts_text(one.step.open);
  else if (goes_on(one))
    text += "; not finished: continue with `benchctl resume`";
  return text;
}

}  // namespace

std::string localisation_text(const std::vector<Localisation>& list, const TextStyle& style) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", paint("localisation", Paint::bold, style));
  for (const Localisation& one : list) {
    text += "    " + wrap(printable(describe(one.incident)), 4, 6, style) + "\n";
    for (const SearchFinding& finding : one.step.findings)
      text +=
          "      " +
          paint(wrap(printable(describe(finding, one.incident)), 6, 8, style), Paint::red, style) +
          "\n";
    for (const DeviceSearch& search : one.devices)
      for (const std::string& line : lines_of(search, one.incident))
        text += "        " + wrap(printable(line), 8, 10, style) + "\n";
    if (!one.explained_by.empty())
      text += "      not searched: " + printable(one.explained_by) + " takes part in it\n";
    else
      text += "      " + wrap(printable(progress_text(one)), 6, 8, style) + "\n";
  }
  return text;
}

std::string stragglers_text(const std::vector<FoundStraggler>& list, const TextStyle& style) {
  constexpr std::size_t kMost = 8;
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", paint("stragglers", Paint::bold, style));
  for (std::size_t i = 0; i < std::min(list.size(), kMost); ++i)
    text += "    " + wrap(printable(list[i].text), 4, 6, style) + "\n";
  if (list.size() > kMost)
    text += fmt::format("    and {} more (see --json)\n", list.size() - kMost);
  return text;
}

}  // namespace bench
