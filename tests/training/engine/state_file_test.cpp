// Optimizer state in a file: every window comes back as it was left, and what the storage loses is
// found.
#include "training/engine/state_file.h"

#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/engine/gradient_blocks.h"

namespace bench::training {
namespace {

/// Two arrays of an optimizer, in memory for a few windows.
struct Buffers {
  explicit Buffers(const StateWindows& windows)
      : first(windows.buffered() * 4, "first"), second(windows.buffered() * 8, "second") {
    views = {{"first", {first.data(), 1, windows.buffered(), Dtype::f32}},
             {"second", {second.data(), 1, windows.buffered(), Dtype::f64}}};
  }

  MemoryBlock first, second;
  std::vector<NamedView> views = {};
};

/// Adds 1 to each element of the first array, and its index to each of the second.
void step(StateFile& file, Buffers& buffers) {
  const StateWindows& windows = file.windows();
  for (std::int64_t window = 0; window < windows.count(); ++window) {
    file.acquire(window);
    const std::int64_t at = windows.buffer_of(window), begin = windows.first(window);
    for (std::int64_t i = 0; i < windows.elements_in(window); ++i) {
      buffers.views[0].view.as<float>()[at + i] += 1.0f;
      buffers.views[1].view.as<double>()[at + i] += static_cast<double>(begin + i);
    }
    file.release(window);
  }
}

bool holds(StateFile& file, double steps) {
  const auto state = file.state();
  if (state.size() != 2 || state[0].name != "first" || state[1].name != "second") return false;
  for (std::int64_t i = 0; i < file.windows().elements; ++i)
    if (state[0].view.as<float>()[i] != static_cast<float>(steps) ||
        state[1].view.as<double>()[i] != steps * static_cast<double>(i))
      return false;
  return true;
}

}  // namespace

TEST_CASE("windows have whole blocks, at most 16 of them until they reach their largest size") {
  CHECK(StateWindows::of(0).count() == 0);
  CHECK(StateWindows::of(0).buffered() == 0);
  CHECK(StateWindows::of(1).size == kBlock);
  CHECK(StateWindows::of(1).buffered() == kBlock);
  CHECK(StateWindows::of(16 * kBlock).count() == 16);
  const StateWindows odd = StateWindows::of(33 * kBlock + 1);
  CHECK(odd.size == 3 * kBlock);
  CHECK(odd.count() == 12);
  CHECK(odd.elements_in(11) == 1);
  CHECK(odd.buffered() == 9 * kBlock);
  CHECK(StateWindows::of(std::int64_t{1} << 32).count() == 2048);
}

TEST_CASE("a state in a file is that of all steps, however many windows it has") {
  const TemporaryDirectory folder;
  for (const std::int64_t elements : {std::int64_t{1}, kBlock, kBlock + 1, 2 * kBlock, 3 * kBlock,
                                      4 * kBlock, 5 * kBlock - 7, 16 * kBlock, 33 * kBlock + 1}) {
    INFO(elements);
    const StateWindows windows = StateWindows::of(elements);
    Buffers buffers(windows);
    StateFile file(folder.path() / "state", buffers.views, windows);
    CHECK(holds(file, 0));
    for (int i = 1; i <= 4; ++i) {
      step(file, buffers);
      if (i != 2) CHECK(holds(file, i));  // also without a look in between
    }
    const StateFile::Traffic traffic = file.traffic();
    CHECK(traffic.file_bytes >= 12 * elements);
    CHECK(traffic.file_bytes < 12 * elements + 2 * 4096);
    CHECK(traffic.written_bytes >= 4 * 12 * elements);
    CHECK(traffic.written_bytes <= 4 * traffic.file_bytes);
    CHECK(traffic.read_bytes >= traffic.written_bytes);  // the next step's windows too
    CHECK(traffic.moving.value > 0.0);
    CHECK(std::filesystem::is_empty(folder.path() / "state"));  // the file has no name
  }
}

TEST_CASE("values that are written before the first step are the ones it begins with") {
  const TemporaryDirectory folder;
  const StateWindows windows = StateWindows::of(20 * kBlock);
  Buffers buffers(windows);
  StateFile file(folder.path(), buffers.views, windows);
  for (const NamedView& array : file.state())
    for (std::int64_t i = 0; i < windows.elements; ++i)
      if (array.name == "first")
        array.view.as<float>()[i] = 5.0f;
      else
        array.view.as<double>()[i] = 5.0 * static_cast<double>(i);
  step(file, buffers);
  CHECK(holds(file, 6));
}

TEST_CASE("a bit that storage changes between two steps is found") {
  const TemporaryDirectory folder;
  const StateWindows windows = StateWindows::of(20 * kBlock);
  Buffers buffers(windows);
  StateFile file(folder.path(), buffers.views, windows);
  step(file, buffers);
  std::byte& changed = file.state()[1].view.as<std::byte>()[8 * 15 * kBlock + 3];
  changed ^= std::byte{1};
  CHECK_THROWS_WITH(step(file, buffers),
                    Catch::Matchers::Contains("differs from what was written"));
  CHECK_THROWS_AS(file.state(), Error);
}

TEST_CASE("a state that storage changed is not kept in a checkpoint") {
  const TemporaryDirectory folder;
  const StateWindows windows = StateWindows::of(20 * kBlock);
  Buffers buffers(windows);
  StateFile file(folder.path(), buffers.views, windows);
  step(file, buffers);
  CHECK_NOTHROW(file.verify());
  file.state()[0].view.as<float>()[19 * kBlock] += 1.0f;  // its window is in no buffer
  CHECK_THROWS_WITH(file.verify(), Catch::Matchers::Contains("differs from what was written") &&
                                       Catch::Matchers::Contains("window 10 of 10"));
}

TEST_CASE("a folder that cannot be used, or has no room, is named, and nothing is left in it") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "x";
  const StateWindows windows = StateWindows::of(kBlock);
  Buffers buffers(windows);
  CHECK_THROWS_WITH(StateFile(folder.path() / "file", buffers.views, windows),
                    Catch::Matchers::Contains((folder.path() / "file").string()));
  StateWindows huge = windows;
  huge.elements = std::int64_t{1} << 40;  // 12 TiB
  huge.size = std::int64_t{1} << 40;
  CHECK_THROWS_WITH(
      StateFile(folder.path(), buffers.views, huge),
      Catch::Matchers::Contains("reserve") && Catch::Matchers::Contains(folder.path().string()));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace bench::training
