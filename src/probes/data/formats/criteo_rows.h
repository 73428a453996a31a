// Criteo's lines to rows of 160 bytes, the form in which MLPerf's trainings keep them: label, 13
// integers, 26 categories. training/sources/criteo.h says what a line is and reads what is not as
// nearly all lines are; here are the short cuts for these: eight digits at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench::data {

struct CriteoRow {
  std::int32_t label = 0;
  std::array<std::int32_t, 13> integers = {};  // 0 where missing; to the ends of int32
  std::array<std::uint32_t, 26> words = {};    // 0 where missing

  bool operator==(const CriteoRow&) const = default;
};
static_assert(sizeof(CriteoRow) == 160);

class CriteoRowReader {
 public:
  /// The text is borrowed; `path` is for errors.
  CriteoRowReader(std::string_view text, const std::string& path, std::uint64_t first_line)
      : rest_(text), path_(path), number_(first_line) {}

  /// Fills rows from the next lines on; how many there were. Throws Error(input), which names file
  /// and line, as training::CriteoReader does.
  std::size_t read(std::span<CriteoRow> rows);
  void skip(std::uint64_t lines);

 private:
  void read_slowly(CriteoRow& row);

  std::string_view rest_;
  const std::string& path_;
  std::uint64_t number_;
};

/// As DLRM takes a row: log(1 + x) of integers, 0 of negative ones; categories modulo `rows`, label
/// as it is. In place, as f32 and int32; `rows` is at least 1.
void transform_criteo(std::span<CriteoRow> rows, std::uint32_t table_rows);

}  // namespace bench::data
