#include "runner/hosts/import_entries.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "runner/hosts/inventory.h"

namespace bench {
namespace {

/// "n1-ib" of n1 is "{name}-ib", "user@n1" is "user@{name}", so that such hosts share an entry.
std::string address_form(const ImportedHost& host) {
  const std::size_t at = host.address.find('@');
  const std::size_t start = at == std::string::npos ? 0 : at + 1;
  if (host.address.compare(start, host.name.size(), host.name) != 0) return host.address;
  return host.address.substr(0, start) + "{name}" + host.address.substr(start + host.name.size());
}

Json shared_part(const ImportedHost& host) {
  Json entry = {{"slots", host.slots}};
  if (const std::string address = address_form(host); address != "{name}")
    entry["address"] = address;
  if (!host.labels.empty()) entry["labels"] = host.labels;
  return entry;
}

/// One entry, or several where the expression is too long for one.
void add_entries(const Json& shared, std::span<const std::string> names, Json& entries) {
  const std::string expression = compact_hostlist({names.begin(), names.end()});
  if (expression.size() > kMaxHostExpression && names.size() > 1) {
    const std::size_t half = names.size() / 2;
    add_entries(shared, names.first(half), entries);
    return add_entries(shared, names.subspan(half), entries);
  }
  entries.push_back(shared);
  entries.back()["name"] = expression;
}

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!trim(line).empty()) lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<int> read_slots(std::string_view word) {
  const auto value = parse_as<int>(word);
  return value && *value >= 0 && *value <= 100'000 ? value : std::nullopt;
}

void refuse_line(const std::string& origin, const TextLine& line, const std::string& what,
                 const std::string& hint) {
  throw Error(ErrorKind::input, origin + ": line " + std::to_string(line.number) + ": " + what,
              hint);
}

void check_host_name(std::string_view name, const std::string& origin, const TextLine& line) {
  const std::string hint =
      "names begin with a letter or digit and hold letters, digits, '_', '.', '-'";
  try {
    if (expand_hostlist(name, 1).front() == name) return;
  } catch (const Error& error) {
    refuse_line(origin, line, error.what(), hint);
  }
  refuse_line(origin, line, "'" + printable(name) + "' is not a host name", hint);
}

Json hosts_file_of(const std::vector<ImportedHost>& hosts, const std::string& origin) {
  std::vector<std::pair<Json, std::vector<std::string>>> entries;
  std::map<std::string, std::size_t> places;
  for (const ImportedHost& host : hosts) {
    const Json shared = shared_part(host);
    const auto [place, is_new] = places.try_emplace(dump(shared), entries.size());
    if (is_new) entries.push_back({shared, {}});
    entries[place->second].second.push_back(host.name);
  }
  Json file = {{"hosts", Json::array()}};
  for (const auto& [shared, names] : entries) add_entries(shared, names, file["hosts"]);
  inventory_from_json(file, origin);  // validates the written file
  return file;
}

}  // namespace bench
