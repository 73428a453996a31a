#include "runner/hosts/known_facts.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/log.h"
#include "core/text.h"
#include "results/store/store.h"

namespace bench {
namespace {

using Words = std::map<std::string, std::string>;

/// A name and the number it ends with: mlx5_2 before mlx5_10.
std::pair<std::string, long> numbered(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789") + 1;
  long number = -1;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return {name.substr(0, digits), number};
}

std::string card_list(const Json& names) {
  std::vector<std::string> cards;
  for (const Json& name : names)
    if (name.is_string()) cards.push_back(name);
  std::ranges::sort(cards, {}, numbered);
  return join(cards, ",");
}

void add_host_words(const Json& facts, Words& words) {
  for (const auto& [name, value] : facts.items()) {
    if (value.is_string() && value != "unreadable") words[name] = value;
    if (value.is_number()) words[name] = dump(value);
  }
  if (const std::string cards = card_list(array_field(facts, "infiniband")); !cards.empty())
    words["cards"] = cards;
}

/// "" if the GPU is not in a fabric.
std::string domain_of(const Json& gpu) {
  const Json& fabric = object_field(gpu, "fabric");
  const std::string cluster = text_field(fabric, "cluster");
  if (text_field(fabric, "state") != "completed" ||
      cluster.find_first_not_of('0') == std::string::npos)
    return "";
  return cluster + "." + std::to_string(integer_field(fabric, "clique"));
}

void add_gpu_words(const Json& facts, Words& words) {
  const Json& gpus = array_field(facts, "gpus");
  if (gpus.empty()) return;
  words["gpus"] = std::to_string(gpus.size());
  std::set<std::string> names, domains;
  for (const Json& gpu : gpus) {
    names.insert(text_field(gpu, "name"));
    domains.insert(domain_of(gpu));
  }
  if (names.size() == 1 && *names.begin() != "") words["gpu"] = *names.begin();
  if (domains.size() == 1 && *domains.begin() != "") words["nvlink_domain"] = *domains.begin();
}

/// Ranks report their own host name, which may include a domain.
const std::map<std::string, Json>* facts_of(const Host& host, const HostFacts& known) {
  for (const std::string& name :
       {host.name, host.address, is_this_host(host) ? this_host_name() : ""})
    if (const auto found = known.find(name); found != known.end()) return &found->second;
  const auto longer = known.lower_bound(host.name + ".");
  const bool found = longer != known.end() && longer->first.starts_with(host.name + ".");
  return found ? &longer->second : nullptr;
}

}  // namespace

std::map<std::string, std::string> words_of_facts(const std::map<std::string, Json>& topics) {
  Words words;
  if (const auto host = topics.find("host"); host != topics.end())
    add_host_words(host->second, words);
  if (const auto gpus = topics.find("gpus"); gpus != topics.end())
    add_gpu_words(gpus->second, words);
  return words;
}

void add_known_facts(Inventory& inventory, const std::filesystem::path& database) try {
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return;
  const HostFacts known = Store::open(database, Access::read).latest_facts({"host", "gpus"});
  for (Host& host : inventory.hosts)
    if (const auto* topics = facts_of(host, known)) host.facts = words_of_facts(*topics);
} catch (const Error& error) {
  say(Level::warning, "cannot read host facts of earlier runs: " + printable(error.what()));
}

}  // namespace bench
