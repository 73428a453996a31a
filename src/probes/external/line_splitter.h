// Cuts a stream into lines. CR, LF and CRLF end one: progress bars use CR alone, and a log line may
// stand between two of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bench::external {

class LineSplitter {
 public:
  /// Takes a line without its end, and how many bytes of it were dropped because it was too long.
  using Take = std::function<void(std::string_view line, std::size_t dropped)>;

  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes, const Take& take);
  /// The stream has ended: what stands after its last line end is a line too.
  void finish(const Take& take);

 private:
  void end_line(const Take& take);

  std::size_t longest_;
  std::string line_;
  std::size_t dropped_ = 0;
  bool after_cr_ = false;
};

}  // namespace bench::external
