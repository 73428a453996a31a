// Runs fuzz targets on their corpora without libFuzzer, so that every test does so with any
// compiler:
//   fuzz_replay TARGET FOLDER...
// A crash names the target and the file.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "replayed_targets.h"  // made by CMake: kTargets

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

namespace fs = std::filesystem;

std::string current;  // what is being read

void show_input() {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, current.data(), current.size());
}

void on_signal(int number) {
  show_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void watch_for_crashes() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(show_input);
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(number, on_signal);
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void replay(const Target& target, const fs::path& file) {
  current = "\nfuzz: " + std::string(target.name) + " failed on " + file.string() + "\n";
  const std::string input = bench::read_file(file);
  target.run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) try {
  const auto target =
      std::ranges::find(kTargets, std::string_view(argc > 1 ? argv[1] : ""), &Target::name);
  if (argc < 3 || target == std::end(kTargets)) {
    std::fprintf(stderr, "usage: %s TARGET FOLDER...\ntargets:", argv[0]);
    for (const Target& one : kTargets) std::fprintf(stderr, " %s", one.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  watch_for_crashes();
  std::size_t count = 0;
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& file : files_in(argv[i])) {
      replay(*target, file);
      ++count;
    }
  }
  if (count == 0) std::fprintf(stderr, "no files in the corpus\n");
  std::printf("%zu inputs: no crash\n", count);
  return count == 0 ? 2 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\nunexpected: %s\n", current.c_str(), error.what());
  return 1;
}
