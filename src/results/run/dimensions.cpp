#include "results/run/dimensions.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::string_view kBytesSuffix = "_bytes";

/// Usual column order; other columns follow by name.
constexpr std::array<std::string_view, 7> kUsualOrder = {"host", "op", "dtype", "library",
                                                         "m",    "n",  "k"};

std::size_t usual_place(const std::string& name) {
  return static_cast<std::size_t>(std::find(kUsualOrder.begin(), kUsualOrder.end(), name) -
                                  kUsualOrder.begin());
}

void sort_as_usual(std::vector<std::string>& names) {
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return usual_place(a) < usual_place(b); });
}

bool is_size(const std::string& name) {
  return name == "bytes" || (name.size() > kBytesSuffix.size() && name.ends_with(kBytesSuffix));
}

/// Parameters take precedence over added fields: a probe may have a parameter "ranks".
Json all_of(const Series& series) {
  Json all = {{"host", series.host},     {"rank", series.rank}, {"ranks", series.ranks},
              {"repeat", series.repeat}, {"over", series.over}, {"device", series.device}};
  all.update(series.params);
  return all;
}

bool is_ours(const std::string& name) {
  static const std::set<std::string> ours = {"host", "rank", "ranks", "repeat", "over", "device"};
  return ours.count(name) > 0;
}

}  // namespace

Dimensions dimensions(const Rows& rows) {
  Dimensions found;
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> present;
  for (const Result* row : rows) {
    found.of_row.push_back(all_of(row->series));
    for (const auto& [name, value] : found.of_row.back().items()) {
      values[name].insert(dump(value));
      ++present[name];
    }
  }
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1 || present[name] < rows.size())
      found.varying.push_back(name);
    else if (!is_ours(name) || rows.front()->series.params.contains(name))
      found.common[name] = found.of_row.front()[name];
  }
  sort_as_usual(found.varying);
  return found;
}

std::string dimension_title(const std::string& name) {
  if (!is_size(name) || name == "bytes") return printable(name);
  return printable(name.substr(0, name.size() - kBytesSuffix.size()));
}

std::string dimension_text(const std::string& name, const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number() && is_size(name)) return format(Bytes{value.get<double>()});
  return printable(dump(value));
}

std::string dimension_list(const Json& values) {
  std::vector<std::string> names, parts;
  for (const auto& [name, value] : values.items()) names.push_back(name);
  sort_as_usual(names);
  for (const std::string& name : names)
    parts.push_back(dimension_title(name) + " " + dimension_text(name, values[name]));
  return join(parts, ", ");
}

std::string with_dimensions(const std::string& name, const Json& values) {
  const std::string list = dimension_list(values);
  return list.empty() ? name : name + " (" + list + ")";
}

std::vector<std::string> short_names(const std::vector<std::pair<std::string, Json>>& metrics) {
  std::map<std::string, Json> common;  // by name
  for (const auto& [name, params] : metrics) {
    const auto [known, is_new] = common.try_emplace(name, params);
    if (is_new) continue;
    const Json before = known->second;
    for (const auto& [key, value] : before.items())
      if (!params.contains(key) || params[key] != value) known->second.erase(key);
  }
  std::vector<std::string> names;
  for (const auto& [name, params] : metrics) {
    Json differing = params;
    for (const auto& [key, value] : common[name].items()) differing.erase(key);
    names.push_back(with_dimensions(name, differing));
  }
  return names;
}

}  // namespace bench
