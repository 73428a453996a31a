// Iterates over the lines with the token in one pass over the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench::mlperf {

/// The part of a line from its last token to its end.
struct TokenLine {
  std::string_view text = {};
  std::int64_t line = 0;    // as LogEntry::line
  std::int64_t column = 0;  // of that token, in bytes from 1
};

class LineWalk {
 public:
  explicit LineWalk(std::string_view bytes);

  /// Advances to the next line with a token; false at the end, when lines() is final.
  bool next(TokenLine& found);
  std::int64_t lines() const { return line_; }

 private:
  std::size_t end_of_line(std::size_t from) const;
  void count_up_to(std::size_t place);

  std::string_view bytes_;
  char break_;                  // the line break that is counted
  std::size_t at_ = 0;          // scanned up to here
  std::size_t counted_ = 0;     // line breaks counted up to here
  std::size_t line_begin_ = 0;  // start of the last counted line
  std::int64_t line_ = 1;
};

/// Counts `wanted`, several bytes at a time.
std::int64_t count_bytes(std::string_view bytes, char wanted);

}  // namespace bench::mlperf
