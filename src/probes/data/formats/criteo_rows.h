// Converts Criteo's lines to rows of 160 bytes, the form that MLPerf's trainings use: label, 13
// integers, 26 categories. A fast path parses lines in the common form, eight digits at once;
// training/sources/criteo.h defines the format and parses all other lines.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench::data {

struct CriteoRow {
  std::int32_t label = 0;
  std::array<std::int32_t, 13> integers = {};  // 0 if missing; clamped to int32
  std::array<std::uint32_t, 26> words = {};    // 0 if missing

  bool operator==(const CriteoRow&) const = default;
};
static_assert(sizeof(CriteoRow) == 160);

class CriteoRowReader {
 public:
  /// The text is borrowed; `path` is for errors.
  CriteoRowReader(std::string_view text, const std::string& path, std::uint64_t first_line)
      : rest_(text), path_(path), number_(first_line) {}

  /// Fills rows from the next lines and returns their number. Throws Error(input) with file and
  /// line, as training::CriteoReader does.
  std::size_t read(std::span<CriteoRow> rows);
  void skip(std::uint64_t lines);

 private:
  void read_slowly(CriteoRow& row);

  std::string_view rest_;
  const std::string& path_;
  std::uint64_t number_;
};

/// The input of DLRM: log(1 + x) of integers, 0 for negative ones; categories modulo `table_rows`;
/// the label unchanged. In place, as f32 and int32; `table_rows` is at least 1.
void transform_criteo(std::span<CriteoRow> rows, std::uint32_t table_rows);

}  // namespace bench::data
