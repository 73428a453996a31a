#include "results/mlperf/rules/rule_set_json.h"

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"

namespace bench::mlperf {
namespace {

constexpr int kLongestDescent = 16;  // of "based_on" and of "like"

/// Merges `change` into `base`; a null removes the member.
void overlay(Json& base, const Json& change) {
  for (const auto& [name, value] : change.items()) {
    if (value.is_null())
      base.erase(name);
    else
      base[name] = value;
  }
}

void overlay_section(Json& base, const Json& change) {
  for (const auto& [name, value] : change.items()) {
    if (name == "keys")
      overlay(base["keys"], value);
    else
      base[name] = value;
  }
}

void overlay_sections(Json& base, const Json& change) {
  for (const auto& [name, section] : change.items()) {
    if (section.is_null())
      base.erase(name);
    else
      overlay_section(base[name], section);
  }
}

void overlay_rule_set(Json& base, const Json& change) {
  base.erase("until");
  for (const auto& [name, value] : change.items()) {
    if (name == "sections")
      overlay_sections(base["sections"], value);
    else if (name == "benchmarks" || name == "lists")
      overlay(base[name], value);
    else
      base[name] = value;
  }
}

Json checked_json(const std::filesystem::path& folder, const std::string& version) {
  const std::filesystem::path path = folder / (version + ".json");
  Json json = read_json(path);
  static const Schema schema = Schema::load(schema_path("mlperf_ruleset"));
  schema.check(json, path.string());
  if (json["ruleset"] != version)
    throw Error(ErrorKind::input, path.string() + ": /ruleset is " + json["ruleset"].dump(),
                "use the version in the file's name");
  return json;
}

/// Merges a section with its base sections.
Json resolved_section(const Json& sections, const std::string& name, int depth) {
  const Json& section = sections.at(name);
  const std::string like = section.value("like", "");
  if (like.empty()) return section;
  if (!sections.contains(like))
    throw Error(ErrorKind::input,
                "section '" + name + "' has the base '" + like + "', which does not exist");
  if (depth >= kLongestDescent)
    throw Error(ErrorKind::input, "section '" + name + "' is its own base");
  Json whole = resolved_section(sections, like, depth + 1);
  overlay_section(whole, section);
  return whole;
}

}  // namespace

const Json& RuleSetFiles::descended(const std::string& version, int depth) {
  if (const auto known = known_.find(version); known != known_.end()) return known->second;
  const Json json = checked_json(folder_, version);
  Json whole = Json::object();
  if (json.contains("based_on")) {
    if (depth >= kLongestDescent)
      throw Error(ErrorKind::input, version + ": /based_on is circular");
    whole = descended(json["based_on"].get<std::string>(), depth + 1);
  }
  overlay_rule_set(whole, json);
  return known_[version] = std::move(whole);
}

Json RuleSetFiles::whole(const std::string& version) {
  Json whole = descended(version, 0);
  const Json sections = whole["sections"];
  for (const auto& [name, section] : sections.items())
    whole["sections"][name] = resolved_section(sections, name, 0);
  return whole;
}

}  // namespace bench::mlperf
