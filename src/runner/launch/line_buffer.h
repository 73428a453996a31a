// Cuts what arrives on a pipe into lines, with a cap on their length: a child that never ends its
// line must not eat our memory.
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
  /// The next whole line, without its newline.
  std::optional<std::string> next();
  /// What stands after the last newline counts as a line too: the stream has ended.
  void finish();
  /// A line was longer than the cap; it was dropped.
  bool overflowed() const { return overflowed_; }

 private:
  std::size_t longest_;
  std::string partial_;
  std::deque<std::string> lines_;
  bool dropping_ = false;
  bool overflowed_ = false;
};

}  // namespace bench
