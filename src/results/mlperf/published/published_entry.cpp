#include "results/mlperf/published/published_entry.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

constexpr double kSecondsOfMinute = 60.0;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : lower_case(text) + " ") {
    if (c != ' ' && c != '-' && c != '_') {
      word += c;
      continue;
    }
    if (!word.empty()) words.push_back(word);
    word.clear();
  }
  return words;
}

}  // namespace

double accelerators_of(const PublishedEntry& entry) {
  return static_cast<double>(entry.description.accelerators().value_or(0));
}

std::string why_no_accelerators(const PublishedEntry& entry) {
  if (accelerators_of(entry) > 0.0) return "";
  return entry.no_description.empty() ? "the system description has no number of accelerators"
                                      : printable(entry.no_description);
}

std::string hardware_name(const PublishedEntry& entry) {
  const SystemDescription& system = entry.description;
  return system.accelerators() && !system.accelerator.empty() ? system.accelerator
                                                              : system.processor;
}

std::string entry_label(const PublishedEntry& entry) {
  return printable(entry.benchmark + " of " + entry.submitter + " " + entry.system);
}

std::vector<double> counted_seconds(const PublishedEntry& entry) {
  std::vector<double> seconds;
  for (const PublishedRun& run : entry.runs)
    if (run.counts && run.minutes > 0.0) seconds.push_back(run.minutes * kSecondsOfMinute);
  return seconds;
}

OlympicMean olympic_seconds(const PublishedEntry& entry) {
  std::vector<double> seconds;
  for (const PublishedRun& run : entry.runs)
    seconds.push_back(run.counts ? run.minutes * kSecondsOfMinute : HUGE_VAL);
  return olympic_mean(seconds);
}

double samples_per_second(const PublishedEntry& entry) {
  return entry.samples / (entry.olympic_minutes * kSecondsOfMinute);
}

double accelerator_minutes(const PublishedEntry& entry) {
  const double accelerators = accelerators_of(entry);
  return accelerators > 0.0 ? entry.score_minutes * accelerators : kNoValue;
}

bool matches_words(const PublishedEntry& entry, const std::string& words) {
  const SystemDescription& system = entry.description;
  const std::string text =
      lower_case(entry.submitter + "\n" + entry.system + "\n" + system.system_name + "\n" +
                 system.accelerator + "\n" + system.processor + "\n" + system.framework);
  return std::ranges::all_of(words_in(words), [&](const std::string& word) {
    return text.find(word) != std::string::npos;
  });
}

std::vector<PublishedEntry> chosen_entries(std::vector<PublishedEntry> entries,
                                           const PublishedChoice& choice) {
  std::set<std::string> names;
  for (const PublishedEntry& entry : entries) names.insert(entry.benchmark);
  const std::vector<std::string> known(names.begin(), names.end());
  for (const std::string& asked : choice.benchmarks)
    if (!names.contains(asked))
      throw Error(ErrorKind::input,
                  "no result for the benchmark '" + printable(asked) + "'." + did_you_mean(asked, known),
                  "available benchmarks: " + printable(join(known, ", ")));
  std::erase_if(entries, [&](const PublishedEntry& entry) {
    const bool asked =
        choice.benchmarks.empty() ||
        std::ranges::find(choice.benchmarks, entry.benchmark) != choice.benchmarks.end();
    return !asked || !matches_words(entry, choice.words);
  });
  return entries;
}

}  // namespace bench::mlperf
