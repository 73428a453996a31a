#include "results/verdicts/topology/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/json_fields.h"
#include "core/names.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostDevices = 32;

/// The number before `unit` in a label; 0 for none.
double number_before(const std::string& label, const std::string& unit) {
  const auto end = label.find(" " + unit);
  if (end == std::string::npos) return 0.0;
  const auto blank = label.rfind(' ', end == 0 ? 0 : end - 1);
  const auto begin = blank == std::string::npos || blank >= end ? 0 : blank + 1;
  double number = 0.0;
  std::from_chars(label.data() + begin, label.data() + end, number);
  return number;
}

/// A figure that grows with link speed: lanes x transfers per second, or bits per second.
double rate_of(const std::string& label) {
  if (label.starts_with("gen")) {
    double generation = 0.0, lanes = 0.0;
    std::from_chars(label.data() + 3, label.data() + label.size(), generation);
    if (const auto x = label.find(" x"); x != std::string::npos)
      std::from_chars(label.data() + x + 2, label.data() + label.size(), lanes);
    return static_cast<double>(1 << std::clamp(static_cast<int>(generation), 0, 16)) * lanes;
  }
  const bool up = label.starts_with("up") || label.starts_with("ACTIVE");
  if (up) return 1.0 + number_before(label, "Gbit/s") + number_before(label, "Gb/sec");
  return number_before(label, "GB/s") + (label == "live" ? 1.0 : 0.0);
}

double mean_rate(const Json& counts) {
  double sum = 0.0;
  for (const auto& [label, count] : counts.items())
    if (count.is_number()) sum += rate_of(label) * count.get<double>();
  return total(counts) > 0.0 ? sum / total(counts) : 0.0;
}

double amount(const Json& value) { return value.is_number() ? value.get<double>() : total(value); }

Severity of_part(const Json& expected, const Json& found) {
  if (found.is_null()) return Severity::missing;
  if (expected.is_null()) return Severity::extra;
  const bool counted =
      (expected.is_number() || is_counts(expected)) && (found.is_number() || is_counts(found));
  if (!counted || amount(expected) == amount(found)) return Severity::different;
  return amount(found) < amount(expected) ? Severity::missing : Severity::extra;
}

double count_of(const Json& counts, const std::string& label) {
  return is_counts(counts) ? number_field(counts, label.c_str(), 0.0) : 0.0;
}

/// Whether every label of `less` occurs in `more` at least as often.
bool is_part_of(const Json& less, const Json& more) {
  if (less.is_null()) return true;
  if (!is_counts(less) || !is_counts(more)) return false;
  for (const auto& [label, count] : less.items())
    if (count_of(less, label) > count_of(more, label)) return false;
  return true;
}

/// Labels that occur in `more` more often than in `less`.
std::vector<std::string> surplus(const Json& more, const Json& less) {
  std::vector<std::string> labels;
  if (is_counts(more))
    for (const auto& [label, count] : more.items())
      if (count_of(more, label) > count_of(less, label)) labels.push_back(label);
  return labels;
}

std::string group_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// Whether the difference only follows from missing or extra devices, as `count` reports already.
/// Switch labels change with the neighbours, too.
bool follows_from(const Difference& one, const Difference& count) {
  if (&one == &count || one.against != count.against) return false;
  if (one.path.ends_with("/switch")) return true;
  if (group_of(one.path) != group_of(count.path)) return false;
  return count.severity == Severity::missing ? is_part_of(one.found, one.expected)
                                             : is_part_of(one.expected, one.found);
}

void add_words(std::string& note, const std::vector<std::string>& words) {
  for (const std::string& word : words) note += (note.empty() ? "" : "; ") + word;
}

}  // namespace

std::string_view to_string(Severity severity) {
  using enum Severity;
  static constexpr NameTable<Severity, 7> kNames{{{{missing, "missing"},
                                                   {degraded, "degraded"},
                                                   {different, "different"},
                                                   {version, "version"},
                                                   {setting, "setting"},
                                                   {extra, "extra"},
                                                   {unreadable, "unreadable"}}}};
  return kNames.name(severity);
}

Severity severity_of(const std::string& path, const Json& expected, const Json& found) {
  if (is_unreadable_trait(found)) return Severity::unreadable;
  switch (aspect_of(path)) {
    case Aspect::part:
      return of_part(expected, found);
    case Aspect::link:
      if (found.is_null()) return Severity::degraded;
      return is_counts(expected) && is_counts(found) && mean_rate(found) < mean_rate(expected)
                 ? Severity::degraded
                 : Severity::different;
    case Aspect::place:
      return Severity::different;
    case Aspect::version:
      return Severity::version;
    case Aspect::setting:
      return Severity::setting;
  }
  return Severity::different;
}

Difference difference_at(const std::string& path, const Json& expected, const Shape& shape) {
  Difference difference{path, Severity::different, expected, value_at(shape, path)};
  difference.severity = severity_of(path, expected, difference.found);
  const auto trait = shape.find(path);
  if (trait == shape.end()) return difference;
  for (const std::string& label : surplus(difference.found, expected))
    if (const auto who = trait->second.who.find(label); who != trait->second.who.end())
      for (const std::string& device : who->second)
        if (difference.devices.size() < kMostDevices) difference.devices.push_back(device);
  return difference;
}

std::string difference_text(const Difference& one) {
  const std::string expected = one.against + " has " + value_text(one.path, one.expected);
  const std::string found = value_text(one.path, one.found);
  std::string text = one.severity == Severity::unreadable
                         ? fmt::format("{}: {}, this host: {}", one.path, expected, found)
                         : fmt::format("{}: {}, {}", one.path, found, expected);
  if (!one.devices.empty()) text += fmt::format(" [{}]", join(one.devices, ", "));
  if (!one.note.empty()) text += " (" + one.note + ")";
  if (one.alike > 0)
    text += fmt::format("; same on {} other host{}", one.alike, one.alike == 1 ? "" : "s");
  return text;
}

void tidy(std::vector<Difference>& differences) {
  std::vector<bool> dropped(differences.size(), false);
  for (Difference& count : differences) {
    const bool counts = count.severity == Severity::missing || count.severity == Severity::extra;
    if (!count.path.ends_with("/count") || !counts) continue;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (!follows_from(differences[i], count)) continue;
      dropped[i] = true;
      const bool where = differences[i].path.ends_with("/numa") &&
                         group_of(differences[i].path) == group_of(count.path);
      if (where && count.severity == Severity::missing)
        add_words(count.note, surplus(differences[i].expected, differences[i].found));
    }
  }
  std::vector<Difference> kept;
  for (std::size_t i = 0; i < differences.size(); ++i)
    if (!dropped[i]) kept.push_back(std::move(differences[i]));
  std::ranges::stable_sort(kept, [](const Difference& a, const Difference& b) {
    return std::pair(a.severity, a.path) < std::pair(b.severity, b.path);
  });
  differences = std::move(kept);
}

}  // namespace bench
