// Criteo's click logs as published: lines of text with 40 fields separated by tabs: label (0 or 1),
// 13 integers, 26 words of hexadecimal digits. All but the label may be empty (missing).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/sources/click_source.h"
#include "training/sources/mapped_file.h"

namespace bench::training {

inline constexpr std::size_t kCriteoIntegers = 13, kCriteoWords = 26;

struct CriteoLine {
  bool click = false;
  std::array<std::optional<std::int64_t>, kCriteoIntegers> integers = {};
  std::array<std::optional<std::uint32_t>, kCriteoWords> words = {};
};

/// Parses one line without its end. Throws Error(input), naming field and value, for another number
/// of fields, a label other than 0 and 1, or an invalid number.
CriteoLine read_criteo_line(std::string_view line);

/// Reads the lines of a text in memory in order; errors name file and line.
class CriteoReader {
 public:
  /// The text must outlive this; lines end with \n or \r\n, the last may end with the text.
  CriteoReader(std::string_view text, std::string path, std::uint64_t first_line = 1)
      : rest_(text), path_(std::move(path)), number_(first_line) {}

  /// None after the last line.
  std::optional<CriteoLine> next();
  /// Skips lines without parsing them.
  void skip(std::uint64_t lines);

 private:
  std::string_view take_line();

  std::string_view rest_;
  std::string path_;
  std::uint64_t number_;
};

/// Fills a sample as DLRM does: log(1 + x) of integers, 0 for missing and negative ones; words
/// modulo the rows of their table, row 0 for missing ones.
void fill(ClickSample& sample, const CriteoLine& line, std::span<const std::int64_t> rows);

/// One file, whose samples are read by number. The start of every 64th line is found when the file
/// is opened, which reads all of it once; 8 bytes are kept for each.
class CriteoFile {
 public:
  /// Throws Error(environment or input) if the file cannot be read.
  explicit CriteoFile(const std::string& path);

  std::uint64_t size() const { return lines_; }
  void read(std::uint64_t index, ClickSample& sample, const ClickShape& shape) const;

 private:
  std::string_view text() const;

  MappedFile file_;
  std::vector<std::uint64_t> starts_ = {};  // of lines 0, 64, 128, ...
  std::uint64_t lines_ = 0;
};

class CriteoFiles : public ClickFiles<CriteoFile> {
 public:
  /// `evaluation` may be empty. Throws as CriteoFile does, and Error(usage) for other than 26
  /// tables of 1 to 2^31 - 1 rows.
  CriteoFiles(const std::string& train, const std::string& evaluation,
              std::vector<std::int64_t> rows);
};

}  // namespace bench::training
