#include "mlperf/submission/submission.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

/// Removes the leading digits of `text` and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Negative, 0 or positive, like strcmp.
int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

int compare_parts(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view number = take_number(a);
      if (const int order = compare_numbers(number, take_number(b)); order != 0) return order;
    } else {
      if (a.front() != b.front())
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front()) ? -1
                                                                                             : 1;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const int order = compare_parts(a, b);
  return order != 0 ? order < 0 : a < b;
}

namespace {

namespace fs = std::filesystem;

std::set<std::string> folders_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.insert(at->path().filename().native());
  }
  return names;
}

/// The benchmark folder names of all submitters.
std::set<std::string> benchmark_folders(const Submission& submission) {
  std::set<std::string> names;
  std::set<fs::path> seen;
  for (const SubmissionEntry& entry : submission.entries) {
    names.insert(entry.benchmark);
    if (entry.organisation.empty() || !seen.insert(entry.organisation).second) continue;
    const fs::path results = entry.organisation / "results";
    for (const std::string& system : folders_in(results)) names.merge(folders_in(results / system));
  }
  return names;
}

bool has_all(const RuleSet& rules, const std::set<std::string>& names) {
  return std::ranges::all_of(
      names, [&](const std::string& name) { return rules.benchmarks.contains(name); });
}

}  // namespace

std::vector<RuleSet> possible_rounds(const Submission& submission, const fs::path& folder,
                                     const std::string& rule_set) {
  std::vector<RuleSet> known;
  if (rule_set != "auto") {
    known.push_back(load_rule_set(folder, rule_set));
    return known;
  }
  known = load_rule_sets(folder);
  std::set<std::string> names = benchmark_folders(submission);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(
        known, [&](const RuleSet& rules) { return rules.benchmarks.contains(name); });
  });
  if (std::ranges::any_of(known, [&](const RuleSet& rules) { return has_all(rules, names); }))
    std::erase_if(known, [&](const RuleSet& rules) { return !has_all(rules, names); });
  return known;
}

RuleSetChoice choose_round(const Log& log, const std::vector<RuleSet>& possible,
                           const std::string& rule_set) {
  if (possible.size() > 1) return choose_rule_set(log, possible);
  const RuleSet& only = possible.front();
  return choose_only(log, only,
                     rule_set == "auto"
                         ? "the only round with all benchmarks in these folders: " + only.round
                         : "selected by --ruleset");
}

namespace {

constexpr int kMaxDepth = 16;

struct Listing {
  std::vector<fs::path> files = {}, folders = {};
};

/// Real folders before symbolic links, so that duplicates through links are skipped.
bool listed_before(const fs::directory_entry& a, const fs::directory_entry& b) {
  std::error_code ignored;
  const bool link_a = a.is_symlink(ignored), link_b = b.is_symlink(ignored);
  if (link_a != link_b) return link_b;
  return natural_less(a.path().filename().native(), b.path().filename().native());
}

Listing list(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> all;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (!at->path().filename().native().starts_with('.')) all.push_back(*at);
  if (error)
    throw Error(ErrorKind::environment,
                printable(folder.native()) + ": cannot read folder: " + error.message(),
                "fix its permissions, or pass the readable folders one by one");
  std::sort(all.begin(), all.end(), listed_before);
  Listing listing;
  for (const fs::directory_entry& entry : all) {
    std::error_code broken_link;
    if (entry.is_regular_file(broken_link)) listing.files.push_back(entry.path());
    if (entry.is_directory(broken_link)) listing.folders.push_back(entry.path());
  }
  return listing;
}

bool is_result(const fs::path& file) {
  const std::string name = file.filename().native();
  return name.starts_with("result_") && name.ends_with(".txt");
}

fs::path without_slash(const fs::path& path) {
  return path.filename().empty() ? path.parent_path() : path;
}

/// Absolute, so that "." and ".." have names too.
fs::path whole(const fs::path& path) {
  return without_slash(fs::absolute(path).lexically_normal());
}

std::string name_above(const fs::path& folder, int levels) {
  fs::path at = whole(folder);
  for (int i = 0; i < levels; ++i) at = at.parent_path();
  return at.filename().native();
}

/// Sets the names from the parent folders: relative to `results`, else by the depth below the root.
void name(SubmissionEntry& entry, const fs::path& root) {
  const fs::path folder = whole(entry.folder), top = whole(root);
  entry.benchmark = folder.filename().native();
  const bool standard = name_above(folder, 2) == "results";
  if (standard || folder != top) entry.system = name_above(folder, 1);
  if (standard) entry.organisation = (entry.folder / "../../..").lexically_normal();
  if (standard)
    entry.submitter = name_above(folder, 3);
  else if (folder != top && folder.parent_path() != top)
    entry.submitter = name_above(folder, 2);
}

class Finder {
 public:
  explicit Finder(const fs::path& root) { submission_.root = root; }

  Submission find() {
    visit(without_slash(submission_.root), 0);
    const auto by_folder = [](const SubmissionEntry& a, const SubmissionEntry& b) {
      return natural_less(a.folder.native(), b.folder.native());
    };
    std::sort(submission_.entries.begin(), submission_.entries.end(), by_folder);
    if (submission_.entries.empty()) {
      submission_.loose = std::move(files_);
      submission_.without.clear();
    }
    return std::move(submission_);
  }

 private:
  bool seen_before(const fs::path& folder) {
    struct stat status = {};
    if (::stat(folder.c_str(), &status) != 0) throw_errno("read " + printable(folder.native()));
    return !seen_.emplace(status.st_dev, status.st_ino).second;
  }

  void visit(const fs::path& folder, int depth) {
    if (depth > kMaxDepth || seen_before(folder)) return;
    const Listing listing = list(folder);
    SubmissionEntry entry{.folder = folder};
    std::copy_if(listing.files.begin(), listing.files.end(), std::back_inserter(entry.logs),
                 is_result);
    if (entry.logs.empty())
      leave(folder, listing);
    else
      keep(std::move(entry));
    for (const fs::path& below : listing.folders) visit(below, depth + 1);
  }

  void leave(const fs::path& folder, const Listing& listing) {
    files_.insert(files_.end(), listing.files.begin(), listing.files.end());
    if (name_above(folder, 2) == "results") submission_.without.push_back(folder);
  }

  void keep(SubmissionEntry entry) {
    name(entry, submission_.root);
    if (fs::is_regular_file(entry.folder / "scaling.json"))
      entry.scaling_file = entry.folder / "scaling.json";
    const fs::path system_file =
        (entry.folder / "../../../systems" / (entry.system + ".json")).lexically_normal();
    if (name_above(entry.folder, 2) == "results" && fs::is_regular_file(system_file))
      entry.system_file = system_file;
    submission_.entries.push_back(std::move(entry));
  }

  Submission submission_;
  std::vector<fs::path> files_;  // files in folders without results
  std::set<std::pair<dev_t, ino_t>> seen_;
};

[[noreturn]] void throw_missing(const fs::path& path) {
  std::error_code ignored;
  std::vector<std::string> siblings;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored))
    siblings.push_back(at->path().filename().native());
  throw Error(ErrorKind::input,
              printable(path.native()) + ": no such file or folder." +
                  printable(did_you_mean(path.filename().native(), siblings)),
              "pass a log, or the folder of a benchmark, a system, an organisation or a "
              "round");
}

}  // namespace

Submission find_submission(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_regular_file(status)) return {.root = path, .loose = {path}};
  if (!fs::exists(status)) throw_missing(path);
  if (!fs::is_directory(status))
    throw Error(ErrorKind::input, printable(path.native()) + ": neither a file nor a folder",
                "write the log to a file first");
  Submission submission = Finder(path).find();
  if (submission.entries.empty() && submission.loose.empty())
    throw Error(ErrorKind::input, printable(path.native()) + ": contains no files",
                "pass a log, or a folder with result_*.txt below it");
  return submission;
}

}  // namespace bench::mlperf
