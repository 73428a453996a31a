#include "results/output/verdicts/localisation_output.h"

#include <fmt/format.h>

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

ListItem item_of(const Localisation& one) {
  ListItem item{describe(one.incident)};
  for (const SearchFinding& finding : one.step.findings)
    item.details.push_back({describe(finding, one.incident), Tone::bad});
  for (const DeviceSearch& search : one.devices)
    for (const std::string& line : lines_of(search, one.incident)) item.details.push_back(line);
  item.details.push_back(one.explained_by.empty()
                             ? progress_text(one)
                             : "not searched: " + one.explained_by + " takes part in it");
  return item;
}

}  // namespace

void add_localisations(Document& document, const std::vector<Localisation>& list) {
  if (list.empty()) return;
  ItemList items;
  for (const Localisation& one : list) items.items.push_back(item_of(one));
  document.add(Heading{"Localisation"}).add(std::move(items));
}

void add_stragglers(Document& document, const std::vector<FoundStraggler>& list) {
  if (list.empty()) return;
  ItemList items{.items = {}, .most = 8};
  for (const FoundStraggler& straggler : list) items.items.push_back({straggler.text});
  document.add(Heading{"Stragglers"}).add(std::move(items));
}

}  // namespace bench
