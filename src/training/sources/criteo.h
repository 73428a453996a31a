// Criteo's click logs as they are published: lines of text with 40 fields between tabs: label (0 or
// 1), 13 integers, 26 words of hexadecimal digits. Any but the label may be empty: missing.
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
#include "training/sources/split_files.h"

namespace bench::training {

inline constexpr std::size_t kCriteoIntegers = 13, kCriteoWords = 26;

struct CriteoLine {
  bool click = false;
  std::array<std::optional<std::int64_t>, kCriteoIntegers> integers = {};
  std::array<std::optional<std::uint32_t>, kCriteoWords> words = {};
};

/// Of one line, without its end. Throws Error(input), which says which field and what it holds, for
/// another number of fields, a label that is neither 0 nor 1, or what is no number.
CriteoLine read_criteo_line(std::string_view line);

/// Lines in order, of a text in memory. What it throws names file and line.
class CriteoReader {
 public:
  /// The text is borrowed; lines end with \n or \r\n, the last may end with the text.
  CriteoReader(std::string_view text, std::string path, std::uint64_t first_line = 1)
      : rest_(text), path_(std::move(path)), number_(first_line) {}

  /// Nothing at the end.
  std::optional<CriteoLine> next();
  /// Goes over lines without reading them.
  void skip(std::uint64_t lines);

 private:
  std::string_view take_line();

  std::string_view rest_;
  std::string path_;
  std::uint64_t number_;
};

/// As DLRM takes them: log(1 + x) of integers, 0 for missing and negative ones; words modulo the
/// rows of their table, missing ones row 0.
void fill(ClickSample& sample, const CriteoLine& line, std::span<const std::int64_t> rows);

/// Samples by number of a file for each split. Where every 64th line begins is found when it is
/// opened, which reads all of the file once; 8 bytes are kept for each.
class CriteoFiles : public ClickSource {
 public:
  /// `evaluation` may be empty. Throws Error(environment or input) for files that cannot be read,
  /// Error(usage) for other than 26 tables of 1 to 2^31 - 1 rows.
  CriteoFiles(const std::string& train, const std::string& evaluation,
              std::vector<std::int64_t> rows);

  const ClickShape& shape() const override { return shape_; }
  std::optional<std::uint64_t> size(Split split) const override;
  bool has_oracle() const override { return false; }
  void read(Split split, std::uint64_t index, ClickSample& sample) const override;

 private:
  struct Indexed {
    explicit Indexed(const std::string& path);
    std::string_view text() const;

    MappedFile file;
    std::vector<std::uint64_t> starts = {};  // of lines 0, 64, 128, ...
    std::uint64_t lines = 0;
  };

  ClickShape shape_;
  SplitFiles<Indexed> files_;
};

}  // namespace bench::training
