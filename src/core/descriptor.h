// An owned file descriptor, write_all(), and the standard descriptors.
#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

namespace bench {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

/// Continues after signals and partial writes. False: errno says why.
bool write_all(int file, std::string_view text);

/// Opens /dev/null in place of those of stdin, stdout and stderr that are closed: otherwise the
/// next file opened, such as records.jsonl, gets that number and receives what is printed. Only to
/// read, so that printing fails as it would without. Call it first in main(). Throws
/// Error(environment).
void open_standard_descriptors();

}  // namespace bench
