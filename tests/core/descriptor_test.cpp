#include "core/descriptor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "tests/support/catch.h"

using namespace bench;

namespace {

/// SIGUSR1 interrupts system calls instead of ending the process.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction interrupt = {};
    interrupt.sa_handler = [](int) {};
    sigaction(SIGUSR1, &interrupt, &before_);
  }
  ~Interruptions() { sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_ = {};
};

}  // namespace

TEST_CASE("a text larger than a pipe gets through whole, however often signals interrupt it") {
  const Interruptions interruptions;
  std::string text(1 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251);
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  std::atomic<bool> whole = false;
  std::thread writer([&] {
    whole = write_all(in.get(), text);
    in.close();
  });
  std::string seen;
  std::array<char, 4096> part{};
  for (;;) {
    pthread_kill(writer.native_handle(), SIGUSR1);
    const ssize_t got = read(out.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    seen.append(part.data(), static_cast<std::size_t>(got));
  }
  writer.join();
  CHECK(whole);
  CHECK(seen == text);
}

TEST_CASE("a failed write reports its reason in errno") {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full.valid());
  errno = 0;
  CHECK_FALSE(write_all(full.get(), "a"));
  CHECK(errno == ENOSPC);
  CHECK_FALSE(write_all(-1, "a"));
  CHECK(errno == EBADF);
  CHECK(write_all(full.get(), ""));
}
