#include "results/verdicts/compare/selector.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "core/time.h"

namespace bench {
namespace {

const std::vector<std::string> kKinds = {"run",    "label", "host", "hardware",
                                         "device", "time",  "file"};
constexpr std::size_t kShown = 80;

std::string shown(const std::string& text) { return printable(text.substr(0, kShown)); }

/// "a+b" to its parts; a path may hold a '+', so file: takes all that follows.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const bool file = text.compare(begin, 5, "file:") == 0;
    const std::size_t end = file ? text.size() : std::min(text.find('+', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse_selector(const std::string& text, const std::string& why,
                                  const std::string& hint) {
  throw Error(ErrorKind::input, "'" + shown(text) + "' selects no runs: " + why, hint);
}

}  // namespace

std::string latest_run(const std::string& text, const std::vector<std::string>& runs) {
  constexpr std::string_view kLatest = "latest";
  if (!text.starts_with(kLatest)) return "";
  std::size_t back = 0;
  if (const auto tail = std::string_view(text).substr(kLatest.size()); !tail.empty()) {
    const char* end = tail.data() + tail.size();
    const auto [rest, failed] = std::from_chars(tail.data() + 1, end, back);
    if (tail.front() != '~' || failed != std::errc() || rest != end) return "";
  }
  if (back >= runs.size())
    refuse_selector(text, "there are only " + std::to_string(runs.size()) + " runs",
                    "list runs with `benchctl runs`");
  return runs[runs.size() - 1 - back];
}

namespace {

void select_run(const std::string& value, const std::vector<std::string>& runs,
                Selector& selector) {
  const std::string latest = latest_run(value, runs);
  const std::string id = latest.empty() ? value : latest;
  if (id.empty() ||
      std::ranges::none_of(runs, [&](const std::string& run) { return run.starts_with(id); }))
    refuse_selector(
        value, "no run ID begins with it." + did_you_mean(id, runs),
        "list runs with `benchctl runs`; other selectors: " + join(kKinds, ":, ") + ":");
  selector.selection.runs.push_back(id);
}

void select_label(const std::string& value, Selector& selector) {
  const auto equals = value.find('=');
  if (equals == 0 || equals == std::string::npos)
    refuse_selector(value, "a label needs a name and a value", "write label:driver=550");
  selector.selection.labels[value.substr(0, equals)] = value.substr(equals + 1);
}

/// A day is its first moment.
std::int64_t moment(const std::string& text) {
  return parse_time(text.size() == 10 ? text + "T00:00:00Z" : text);
}

void select_time(const std::string& value, Selector& selector) {
  const auto dots = value.find("..");
  if (dots == std::string::npos)
    refuse_selector(value, "a time window needs a start and an end",
                    "write time:2026-11-01..2026-11-08");
  const std::string from = value.substr(0, dots), to = value.substr(dots + 2);
  if (!from.empty()) selector.selection.from_ns = moment(from);
  if (!to.empty()) selector.selection.to_ns = moment(to);
}

void select_hardware(const std::string& value, Selector& selector) {
  if (value.empty()) refuse_selector("hardware:", "it has no product name", "write hardware:h100");
  selector.hardware += to_lower(value);
}

void add_part(const std::string& part, const std::vector<std::string>& runs, Selector& selector) {
  const auto colon = part.find(':');
  const std::string kind = colon == std::string::npos ? "run" : part.substr(0, colon);
  const std::string value = colon == std::string::npos ? part : part.substr(colon + 1);
  if (kind == "run") return select_run(value, runs, selector);
  if (kind == "label") return select_label(value, selector);
  if (kind == "time") return select_time(value, selector);
  if (kind == "hardware") return select_hardware(value, selector);
  if (kind == "device") return selector.selection.devices.push_back(value);
  if (kind == "file") {
    selector.file = value;
    return;
  }
  if (kind == "host") {
    for (std::string& host : expand_hostlist(value))
      selector.selection.hosts.push_back(std::move(host));
    return;
  }
  throw Error(ErrorKind::usage,
              "unknown selector '" + shown(kind) + ":'." + did_you_mean(kind, kKinds),
              "use " + join(kKinds, ":, ") + ": or a run ID");
}

}  // namespace

bool is_file_selector(const std::string& text) {
  std::error_code none;
  return text.starts_with("file:") ||
         (text.find('/') != std::string::npos && std::filesystem::is_regular_file(text, none));
}

Selector parse_selector(const std::string& text, const std::vector<std::string>& runs) {
  Selector selector{.text = text};
  if (is_file_selector(text)) {
    selector.file = text.starts_with("file:") ? text.substr(5) : text;
    return selector;
  }
  for (const std::string& part : parts_of(text)) add_part(part, runs, selector);
  return selector;
}

}  // namespace bench
