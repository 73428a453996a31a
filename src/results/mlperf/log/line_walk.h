// The lines of a log that hold the token, in one pass over its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench::mlperf {

/// From the last token of a line to its end.
struct TokenLine {
  std::string_view text = {};
  std::int64_t line = 0;    // as LogEntry::line
  std::int64_t column = 0;  // of that token, in bytes from 1
};

class LineWalk {
 public:
  explicit LineWalk(std::string_view bytes);

  /// The next line with a token; false: there is none any more, and lines() is known.
  bool next(TokenLine& found);
  std::int64_t lines() const { return line_; }

 private:
  std::size_t end_of_line(std::size_t from) const;
  void count_up_to(std::size_t place);

  std::string_view bytes_;
  char break_;                  // ends the lines that are counted
  std::size_t at_ = 0;          // what is before has been looked through
  std::size_t counted_ = 0;     // up to here line breaks are counted
  std::size_t line_begin_ = 0;  // of the line that is counted last
  std::int64_t line_ = 1;
};

/// How often `wanted` occurs, eight bytes and more at a time.
std::int64_t count_bytes(std::string_view bytes, char wanted);

}  // namespace bench::mlperf
