// Splits the output of a child into lines of limited length, to bound memory.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes);
  /// The next complete line, without its newline.
  std::optional<std::string> next();
  /// End of stream: the rest after the last newline becomes a line.
  void finish();
  /// A line exceeded the limit and was dropped.
  bool overflowed() const { return overflowed_; }

 private:
  std::size_t longest_;
  std::string partial_;
  std::deque<std::string> lines_;
  bool dropping_ = false;
  bool overflowed_ = false;
};

}  // namespace bench
