#include "runner/hosts/hosts_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kWidest = 40;  // longer words push their line to the right

using Row = std::array<std::string, 5>;

std::string labels_text(const Json& labels) {
  std::vector<std::string> words;
  for (const auto& [label, value] : labels.items())
    words.push_back(printable(label + "=" + value.get<std::string>()));
  return words.empty() ? "-" : join(words, " ");
}

std::string groups_text(const Json& groups) {
  return groups.empty() ? "-" : join(groups.get<std::vector<std::string>>(), " ");
}

Row row_of(const Json& host) {
  return {host["name"], host["address"], std::to_string(host["slots"].get<int>()),
          labels_text(host["labels"]), groups_text(host["groups"])};
}

}  // namespace

Json hosts_list(const Inventory& inventory) {
  Json list = Json::array();
  for (const Host& host : inventory.hosts)
    list.push_back({{"name", host.name},
                    {"address", host.address},
                    {"slots", host.slots},
                    {"devices", host.devices},
                    {"cards", host.cards},
                    {"labels", host.labels},
                    {"profile", host.profile.empty() ? Json() : Json(host.profile)},
                    {"groups", Json::array()}});
  for (const HostGroup& group : inventory.groups)
    for (const std::size_t host : group.hosts) list[host]["groups"].push_back(group.name);
  return list;
}

std::string hosts_table(const Json& hosts) {
  std::vector<Row> rows = {{"name", "address", "slots", "labels", "groups"}};
  for (const Json& host : hosts) rows.push_back(row_of(host));
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(row[i].size(), kWidest));
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("  {:<{}}  {:<{}}  {:>{}}  {:<{}}  {}\n", row[0], widths[0], row[1],
                        widths[1], row[2], widths[2], row[3], widths[3], row[4]);
  return text;
}

}  // namespace bench
