#include "results/verdicts/topology/profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/json_fields.h"

namespace bench {
namespace {

struct Word {
  const char* key;
  Rule::Kind kind;
};
constexpr std::array<Word, 4> kWords = {{{"is", Rule::Kind::is},
                                         {"at_least", Rule::Kind::at_least},
                                         {"one_of", Rule::Kind::one_of},
                                         {"ignore", Rule::Kind::ignore}}};

const char* word_of(Rule::Kind kind) { return std::ranges::find(kWords, kind, &Word::kind)->key; }

[[noreturn]] void refuse(const std::string& origin, const std::string& path,
                         const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::input, origin + ": /expect/" + path + ": " + what, hint);
}

/// Older profiles label the neighbours at a switch "beside ..." rather than "with ...".
Json with_current_labels(const Json& value) {
  constexpr std::string_view kOld = "beside ";
  Json current = value;
  if (value.is_array())
    for (Json& one : current) one = with_current_labels(one);
  if (!value.is_object()) return current;
  current = Json::object();
  for (const auto& [label, count] : value.items())
    current[label.starts_with(kOld) ? "with " + label.substr(kOld.size()) : label] = count;
  return current;
}

Rule rule_from(const std::string& path, const Json& json, const std::string& origin) {
  Rule rule{path};
  int given = 0;
  for (const Word& word : kWords)
    if (json.contains(word.key)) {
      rule.kind = word.kind;
      rule.value =
          path.ends_with("/switch") ? with_current_labels(json.at(word.key)) : json.at(word.key);
      ++given;
    }
  if (given != 1)
    refuse(origin, path, "has " + std::to_string(given) + " rules, exactly one is required",
           "use is, at_least, one_of or ignore");
  rule.note = text_field(json, "note");
  const auto star = path.find('*');
  if (star != std::string::npos && (star + 1 != path.size() || rule.kind != Rule::Kind::ignore))
    refuse(origin, path, "'*' is allowed only at the end of an ignored path",
           "for example \"mitigation/*\": {\"ignore\": true}");
  return rule;
}

bool holds(const Rule& rule, const Json& found) {
  switch (rule.kind) {
    case Rule::Kind::is:
      return same_value(rule.path, rule.value, found);
    case Rule::Kind::at_least:
      return (found.is_number() ? found.get<double>() : total(found)) >= rule.value.get<double>();
    case Rule::Kind::one_of:
      return std::ranges::any_of(
          rule.value, [&](const Json& one) { return same_value(rule.path, one, found); });
    case Rule::Kind::ignore:
      return true;
  }
  return true;
}

/// The expected value, as text unless it is a single value.
Json expected_by(const Rule& rule) {
  if (rule.kind == Rule::Kind::at_least) return "at least " + value_text(rule.path, rule.value);
  if (rule.kind != Rule::Kind::one_of) return rule.value;
  std::string text = "one of";
  for (const Json& one : rule.value)
    text += (text == "one of" ? " " : " | ") + value_text(rule.path, one);
  return text;
}

Severity severity_by(const Rule& rule, const Json& found) {
  const bool countable = found.is_number() || found.is_null() || is_counts(found);
  if (rule.kind == Rule::Kind::at_least && countable && aspect_of(rule.path) == Aspect::part)
    return Severity::missing;
  return severity_of(rule.path, rule.kind == Rule::Kind::is ? rule.value : Json(""), found);
}

Difference broken(const Rule& rule, const Shape& shape) {
  Difference difference = difference_at(
      rule.path, rule.kind == Rule::Kind::is ? rule.value : value_at(shape, rule.path), shape);
  difference.severity = severity_by(rule, difference.found);
  difference.expected = expected_by(rule);
  difference.note = rule.note;
  difference.against = "profile";
  return difference;
}

Rule learned_rule(const std::string& path, const Json& value) {
  if (is_unreadable_trait(value))
    return {path, Rule::Kind::ignore, true,
            "unreadable when learned: " + text_field(value, "unreadable")};
  const bool memory = path.ends_with("memory_bytes") || path == "memory/total_bytes";
  if (!memory || !value.is_number() || !(value > 0)) return {path, Rule::Kind::is, value};
  constexpr double kKeptByFirmware = 0.99;
  return {path, Rule::Kind::at_least, std::floor(value.get<double>() * kKeptByFirmware)};
}

}  // namespace

const Rule* Profile::rule_for(const std::string& path) const {
  if (const auto own = rules.find(path); own != rules.end()) return &own->second;
  for (const auto& [beginning, rule] : beginnings)
    if (path.starts_with(beginning)) return &rule;
  return nullptr;
}

Profile profile_from_json(const Json& json, const std::string& origin) {
  Profile profile{text_field(json, "profile"), text_field(json, "note"), field(json, "learned")};
  profile.complete = field(json, "complete") == true;
  for (const auto& [path, json_rule] : object_field(json, "expect").items()) {
    const Rule rule = rule_from(path, json_rule, origin);
    if (path.ends_with("*"))
      profile.beginnings.emplace(path.substr(0, path.size() - 1), rule);
    else
      profile.rules.emplace(path, rule);
  }
  return profile;
}

Json to_json(const Profile& profile) {
  Json json = {{"profile", profile.name}, {"complete", profile.complete}};
  if (!profile.note.empty()) json["note"] = profile.note;
  if (!profile.learned.is_null()) json["learned"] = profile.learned;
  json["expect"] = Json::object();
  for (const auto* rules : {&profile.rules, &profile.beginnings})
    for (const auto& [path, rule] : *rules) {
      Json& one = json["expect"][rule.path];
      one[word_of(rule.kind)] = rule.value;
      if (!rule.note.empty()) one["note"] = rule.note;
    }
  return json;
}

Profile learn_profile(const std::string& name, const Shape& shape, const Json& learned) {
  Profile profile{name};
  profile.learned = learned;
  profile.complete = true;
  for (const auto& [path, trait] : shape)
    profile.rules.emplace(path, learned_rule(path, trait.value));
  return profile;
}

std::vector<Difference> compare(const Profile& profile, const Shape& shape) {
  std::vector<Difference> differences;
  for (const auto& [path, rule] : profile.rules) {
    if (rule.kind == Rule::Kind::ignore) continue;
    const Json& found = value_at(shape, path);
    if (is_unreadable_trait(found) || !holds(rule, found))
      differences.push_back(broken(rule, shape));
  }
  if (profile.complete)
    for (const auto& [path, trait] : shape)
      if (!is_unreadable_trait(trait.value) && profile.rule_for(path) == nullptr) {
        differences.push_back(difference_at(path, nullptr, shape));
        differences.back().against = "profile";
      }
  tidy(differences);
  return differences;
}

}  // namespace bench
