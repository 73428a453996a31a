#include "results/compare/side.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

std::string to_lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_same_metric(const SeriesKey& a, const SeriesKey& b) {
  return a.metric == b.metric && a.device == b.device && a.ranks == b.ranks && a.over == b.over &&
         a.unit == b.unit && a.better == b.better && a.params == b.params;
}

class Products {
 public:
  Products(const Histories& histories, std::string query, Side& side)
      : histories_(histories), query_(std::move(query)), side_(side) {}

  bool takes(std::int64_t configuration) {
    if (const auto known = known_.find(configuration); known != known_.end()) return known->second;
    Json facts = histories_.configuration(configuration);
    const bool fits = query_.empty() || is_product(hardware_of(facts), query_);
    if (fits) side_.configurations[configuration] = std::move(facts);
    return known_[configuration] = fits;
  }

 private:
  const Histories& histories_;
  std::string query_;
  Side& side_;
  std::map<std::int64_t, bool> known_;
};

}  // namespace

bool is_product(const std::string& product, const std::string& query) {
  const std::string name = to_lower(product), words = to_lower(query);
  std::string part;
  for (const char c : words + "-") {
    if (c != '-' && c != ' ' && c != '_') {
      part += c;
      continue;
    }
    if (name.find(part) == std::string::npos) return false;
    part.clear();
  }
  return true;
}

MetricKey metric_key(const SeriesKey& key) {
  return {key.metric, dump(key.params), kind_of_device(key.device), key.over, key.ranks,
          key.unit,   key.better};
}

std::string hardware_of(const Json& configuration) {
  std::set<std::string> products;
  if (!configuration.is_object()) return "";
  for (const auto& [fact, text] : configuration.items())
    if (fact.starts_with("gpu.") && fact.ends_with(".name") && text.is_string())
      products.insert(text.get<std::string>());
  if (products.empty()) return text_field(configuration, "cpu_model");
  return join({products.begin(), products.end()}, " | ");
}

std::set<std::string> hardware_of(const Side& side) {
  std::set<std::string> products;
  for (const auto& [id, facts] : side.configurations) products.insert(hardware_of(facts));
  products.erase("");
  return products;
}

Side read_side(const Histories& histories, const Selector& selector,
               const std::vector<std::string>& metrics) {
  if (!selector.file.empty()) return read_file_side(selector.file, metrics);
  Side side{.name = selector.text};
  Selection selection = selector.selection;
  selection.metrics = metrics;
  Products products(histories, selector.hardware, side);
  std::set<std::int64_t> runs;
  SeriesKey last;  // series of one metric follow each other
  ValuesOfUnits* values = nullptr;
  histories.each(selection, [&](const SeriesHistory& history) {
    for (const Point& point : history.points) {
      if (!products.takes(point.configuration)) continue;
      if (values == nullptr || !is_same_metric(last, history.key)) {
        values = &side.metrics[metric_key(history.key)];
        last = history.key;
      }
      (*values)[{history.key.host, history.key.device}].push_back(point);
      runs.insert(point.run);
    }
  });
  side.runs = runs.size();
  if (side.metrics.empty())
    throw Error(ErrorKind::input, "'" + printable(selector.text) + "' selects no usable values",
                "values must be ok, have clean samples and come from runs that are not discarded: see `benchctl runs` and `benchctl list metrics`");
  return side;
}

}  // namespace bench
