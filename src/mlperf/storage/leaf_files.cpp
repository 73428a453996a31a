#include "mlperf/storage/leaf_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf::storage {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMostBytes = 256u << 20;  // the longest known has 8 MB

/// Python writes NaN and infinities, which are no JSON: as null.
std::string without_non_finite(const std::string& text) {
  std::string plain;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\' && at + 1 < text.size()) {
      plain += c;
      plain += text[++at];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t length = 0;
    if (!in_string)
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
        if (rest.starts_with(word)) length = word.size();
    if (length == 0) {
      plain += c;
      continue;
    }
    plain += "null";
    at += length - 1;
  }
  return plain;
}

}  // namespace

bool is_pruned(std::string_view text) { return text.starts_with("PRUNED BY STAFF"); }

JsonFile read_json_file(const fs::path& path) {
  JsonFile file{.path = path};
  std::error_code error;
  const auto status = fs::status(path, error);
  if (error || !fs::is_regular_file(status)) return file;
  try {
    if (fs::file_size(path) > kMostBytes) throw Error(ErrorKind::input, "it has more than 256 MiB");
    const std::string text = read_file(path);
    if (is_pruned(text)) {
      file.state = FileState::pruned;
      return file;
    }
    file.value = parse_json(without_non_finite(text), path.filename().native());
    file.state = FileState::read;
  } catch (const std::exception& wrong) {
    file.state = FileState::wrong;
    file.problem = wrong.what();
  }
  return file;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !error;
}

std::string beginning_of(const fs::path& path, std::size_t most) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || error) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::string brief(const std::string& text) {
  constexpr std::size_t kMost = 60;
  const std::string shown = printable(text.substr(0, kMost));
  return text.size() > kMost ? shown + "..." : shown;
}

namespace {

/// The number of a rank in "12_output.json"; nothing for other names.
std::optional<int> rank_of(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return {};
  const std::string digits(name.substr(0, name.size() - ending.size()));
  if (digits.empty() || digits.size() > 6 || !std::ranges::all_of(digits, is_digit)) return {};
  return parse_as<int>(digits);
}

}  // namespace

LeafFiles read_leaf(const Leaf& leaf) {
  LeafFiles files;
  std::error_code error;
  for (fs::directory_iterator at(leaf.folder, error), end; !error && at != end; at.increment(error))
    files.names.push_back(at->path().filename().native());
  if (error)
    throw Error(ErrorKind::environment,
                "cannot read " + leaf.folder.native() + ": " + error.message());
  std::ranges::sort(files.names);
  for (const std::string& name : files.names) {
    if (const auto rank = rank_of(name, "_output.json"))
      files.outputs[*rank] = leaf.folder / name;
    else if (const auto of = rank_of(name, "_per_epoch_stats.json"))
      files.epochs[*of] = leaf.folder / name;
    else if (name.ends_with("_metadata.json")) {
      JsonFile file = read_json_file(leaf.folder / name);
      if (file.state == FileState::absent) continue;  // a folder, a pipe
      if (files.metadata_files++ == 0) files.metadata = std::move(file);
    } else if (name != "summary.json" && name.ends_with(".json") &&
               name.find("summary") != std::string::npos) {
      files.other_summaries.push_back(name);
    }
  }
  files.summary = read_json_file(leaf.folder / "summary.json");
  return files;
}

bool has(const LeafFiles& files, std::string_view name) {
  return std::ranges::binary_search(files.names, name);
}

const Json& value_at(const Json& json, std::initializer_list<const char*> keys) {
  static const Json null;
  const Json* at = &json;
  for (const char* key : keys) {
    if (!at->is_object()) return null;
    const auto found = at->find(key);
    if (found == at->end()) return null;
    at = &*found;
  }
  return *at;
}

namespace {

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  const char* const end = text.data() + text.size();
  double number = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return {};
  return number;
}

}  // namespace

std::optional<double> number_at(const Json& json, std::initializer_list<const char*> keys) {
  return number_of(value_at(json, keys));
}

std::optional<std::string> text_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json& value = value_at(json, keys);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<bool> flag_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json& value = value_at(json, keys);
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_string()) return {};
  const std::string text = to_lower(value.get<std::string>());
  if (text == "true") return true;
  if (text == "false") return false;
  return {};
}

std::optional<std::vector<double>> numbers_at(const Json& json,
                                              std::initializer_list<const char*> keys) {
  const Json& list = value_at(json, keys);
  if (!list.is_array()) return {};
  std::vector<double> numbers;
  for (const Json& one : list) {
    const auto number = number_of(one);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<LocalTime> time_at(const Json& json, std::initializer_list<const char*> keys) {
  const auto text = text_at(json, keys);
  if (!text || text->size() < 19) return {};
  const std::string& t = *text;
  if (t[4] != '-' || t[7] != '-' || (t[10] != 'T' && t[10] != ' ') || t[13] != ':' || t[16] != ':')
    return {};
  const auto stamp = stamp_seconds(t.substr(0, 4) + t.substr(5, 2) + t.substr(8, 2) + "_" +
                                   t.substr(11, 2) + t.substr(14, 2) + t.substr(17, 2));
  if (!stamp) return {};
  LocalTime time{.seconds = static_cast<double>(*stamp)};
  std::size_t at = 19;
  if (at < t.size() && t[at] == '.') {
    double unit = 0.1;
    for (++at; at < t.size() && is_digit(t[at]); ++at, unit /= 10)
      time.seconds += unit * (t[at] - '0');
  }
  time.is_utc = at < t.size() && (t[at] == 'Z' || t.substr(at) == "+00:00");
  return time;
}

const Json& parameters_of(const Json& metadata) {
  const Json& now = value_at(metadata, {"parameters"});
  return now.is_object() && !now.empty() ? now : value_at(metadata, {"combined_params"});
}

}  // namespace bench::mlperf::storage
