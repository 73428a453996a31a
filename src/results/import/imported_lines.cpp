#include "results/import/imported_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/secret_names.h"
#include "core/text.h"
#include "core/wire.h"

namespace bench {
namespace {

constexpr std::array kHarmless = {
    std::string_view("NCCL_"), std::string_view("CUDA_"),    std::string_view("UCX_"),
    std::string_view("FI_"),   std::string_view("OMPI_"),    std::string_view("RCCL_"),
    std::string_view("OMP_"),  std::string_view("NVSHMEM_"), std::string_view("HSA_")};

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  return is_secret_name(name) || is_secret_name(value) || has_credentials(value);
}

KeptEnvironment harmless_environment(const Json& list, const std::string& origin) {
  if (!list.is_array()) throw Error(ErrorKind::input, origin + ": /env is not an array");
  KeptEnvironment kept;
  for (const Json& one : list) {
    if (!one.is_string()) throw Error(ErrorKind::input, origin + ": /env must hold strings");
    const auto& text = one.get_ref<const std::string&>();
    const std::size_t equals = text.find('=');
    const std::string_view name = std::string_view(text).substr(0, equals);
    const std::string_view value = equals == std::string::npos
                                       ? std::string_view()
                                       : std::string_view(text).substr(equals + 1);
    const bool harmless = std::ranges::any_of(
        kHarmless, [&](std::string_view beginning) { return name.starts_with(beginning); });
    if (harmless && !looks_secret(name, value))
      kept.variables[std::string(name)] = std::string(value);
    else
      ++kept.dropped;
  }
  return kept;
}

namespace {

constexpr std::size_t kShownOfLine = 80;
constexpr std::size_t kLongestName = 255;

}  // namespace

bool ImportedLines::next() {
  line_.clear();
  std::array<char, 4096> piece{};
  for (;;) {
    text_.getline(piece.data(), piece.size());
    const auto got = static_cast<std::size_t>(text_.gcount());
    const bool cut = text_.fail() && !text_.eof() && got == piece.size() - 1;
    const bool at_end = text_.eof();
    if (at_end && got == 0 && line_.empty()) return false;
    if (text_.fail() && !cut && !at_end) return false;  // it cannot be read any further
    line_.append(piece.data(), got - (got > 0 && !cut && !at_end ? 1 : 0));
    if (line_.size() > kMaxLineBytes) {
      ++number_;
      refuse(fmt::format("is longer than {} bytes", kMaxLineBytes));
    }
    if (cut) {
      text_.clear();
      continue;
    }
    whole_ = !at_end;
    break;
  }
  ++number_;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  return true;
}

void ImportedLines::demand_whole() const {
  if (!whole_)
    refuse("is the last line and has no line break: the file may be truncated",
           "if the file is complete, append a line break");
}

void ImportedLines::refuse(const std::string& what, const std::string& hint) const {
  throw Error(ErrorKind::input,
              fmt::format("{}:{}: '{}' {}", origin_, number_,
                          printable(std::string_view(line_).substr(0, kShownOfLine)), what),
              hint);
}

std::optional<Json> leading_json(std::istream& text, const std::string& origin) {
  const int first = (text >> std::ws).peek();
  if (text.eof()) text.clear();
  if (first != '{') return {};
  std::ostringstream document;
  document << text.rdbuf();
  return parse_json(document.str(), origin);
}

JsonAfterLines json_after_lines(std::istream& text, const std::string& origin,
                                const std::string& hint) {
  ImportedLines lines(text, origin);
  JsonAfterLines found;
  bool more = lines.next();
  for (; more && !trim(lines.line()).starts_with('{'); more = lines.next()) ++found.skipped;
  if (!more) throw Error(ErrorKind::input, origin + ": no JSON found", hint);
  std::ostringstream document;
  document << lines.line() << '\n' << text.rdbuf();
  found.document = parse_json(document.str(), origin);
  return found;
}

std::string text_after(std::string_view text, std::string_view word) {
  return text.starts_with(word) ? std::string(trim(text.substr(word.size()))) : "";
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0;;) {
    const std::size_t end = line.find(separator, at);
    cells.push_back(line.substr(at, end - at));
    if (end == std::string_view::npos) return cells;
    at = end + 1;
  }
}

bool read_number(std::string_view text, double& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty() && std::isfinite(value);
}

bool read_whole_number(std::string_view text, std::int64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

bool is_host_name(const std::string& text) try {
  const auto names = expand_hostlist(text, 1);
  return names.size() == 1 && names.front() == text;
} catch (const Error&) {
  return false;
}

}  // namespace bench
