#include "training/sources/criteo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace bench::training {
namespace {

constexpr std::size_t kFields = 1 + kCriteoIntegers + kCriteoWords;
constexpr std::uint64_t kEvery = 64;  // lines per entry of the index

/// The fields of a line; excess fields are counted but not stored.
struct Fields {
  std::array<std::string_view, kFields> field = {};
  std::size_t count = 0;
};

Fields fields_of(std::string_view line) {
  Fields fields;
  while (true) {
    const auto tab = line.find('\t');
    if (fields.count < kFields) fields.field.at(fields.count) = line.substr(0, tab);
    ++fields.count;
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

template <class Number>
std::optional<Number> number(const Fields& fields, std::size_t index, int base) {
  const std::string_view text = fields.field.at(index);
  if (text.empty()) return std::nullopt;
  const auto value = parse_as<Number>(text, base);
  if (!value)
    throw Error(
        ErrorKind::input,
        fmt::format("field {} of {} is '{}'", index + 1, kFields, printable(text.substr(0, 40))),
        base == 10 ? "expected an integer or an empty field"
                   : "expected up to 8 hexadecimal digits or an empty field");
  return value;
}

bool read_label(std::string_view text) {
  if (text == "0" || text == "1") return text == "1";
  throw Error(ErrorKind::input, fmt::format("the label is '{}'", printable(text.substr(0, 40))),
              "expected 0 or 1 (Criteo's test files without labels cannot be used)");
}

std::vector<std::int64_t> checked(std::vector<std::int64_t> rows) {
  if (rows.size() == kCriteoWords && rows_fit(rows)) return rows;
  throw Error(ErrorKind::usage,
              fmt::format("{} tables given, Criteo has 26 categorical fields", rows.size()),
              "set the rows of 26 tables, each 1 to 2147483647");
}

}  // namespace

CriteoLine read_criteo_line(std::string_view line) {
  const Fields fields = fields_of(line);
  if (fields.count != kFields)
    throw Error(ErrorKind::input, fmt::format("{} fields, expected {}", fields.count, kFields),
                "a line has a label, 13 integers and 26 words, separated by tabs");
  CriteoLine read;
  read.click = read_label(fields.field[0]);
  for (std::size_t i = 0; i < kCriteoIntegers; ++i)
    read.integers.at(i) = number<std::int64_t>(fields, 1 + i, 10);
  for (std::size_t i = 0; i < kCriteoWords; ++i)
    read.words.at(i) = number<std::uint32_t>(fields, 1 + kCriteoIntegers + i, 16);
  return read;
}

std::string_view CriteoReader::take_line() {
  const auto end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return line;
}

std::optional<CriteoLine> CriteoReader::next() {
  if (rest_.empty()) return std::nullopt;
  const std::uint64_t number = number_;
  try {
    return read_criteo_line(take_line());
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}, line {}: {}", path_, number, error.what()),
                error.hint());
  }
}

void CriteoReader::skip(std::uint64_t lines) {
  for (; lines > 0 && !rest_.empty(); --lines) take_line();
}

void fill(ClickSample& sample, const CriteoLine& line, std::span<const std::int64_t> rows) {
  sample.label = line.click ? 1 : 0;
  for (std::size_t i = 0; i < kCriteoIntegers; ++i)
    sample.dense[i] = static_cast<float>(std::log1p(
        static_cast<double>(std::max<std::int64_t>(line.integers.at(i).value_or(0), 0))));
  for (std::size_t i = 0; i < kCriteoWords; ++i)
    sample.ids[i] = static_cast<std::int32_t>(line.words.at(i).value_or(0) % rows[i]);
}

CriteoFile::CriteoFile(const std::string& path) : file_(path) {
  const std::string_view all = text();
  for (std::size_t at = 0; at < all.size(); ++lines_) {
    if (lines_ % kEvery == 0) starts_.push_back(at);
    const auto end = all.find('\n', at);
    at = end == std::string_view::npos ? all.size() : end + 1;
  }
}

std::string_view CriteoFile::text() const {
  return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
}

void CriteoFile::read(std::uint64_t index, ClickSample& sample, const ClickShape& shape) const {
  const std::uint64_t start = starts_[index / kEvery];
  CriteoReader reader(text().substr(start), file_.path(), index - index % kEvery + 1);
  reader.skip(index % kEvery);
  fill(sample, reader.next().value(), shape.rows);
}

CriteoFiles::CriteoFiles(const std::string& train, const std::string& evaluation,
                         std::vector<std::int64_t> rows)
    : ClickFiles(CriteoFile(train)) {
  shape_ = {.dense = kCriteoIntegers,
            .rows = checked(std::move(rows)),
            .lookups = std::vector<int>(kCriteoWords, 1)};
  if (!evaluation.empty()) evaluation_.emplace(evaluation);
}

}  // namespace bench::training
