// Drives a fuzz target without libFuzzer, so that g++ and its sanitizers can run it in every test:
//   record_fuzz SEED COUNT CORPUS_FOLDER
// First the corpus as it is, then COUNT damaged inputs. A crash names the input; an input depends
// on the seed and its number alone, so it can be made again.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"
#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

std::string current;  // what the target is looking at

void show_input() {
  static constexpr char kText[] = "\nfuzz: this input did it:\n";
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  written = ::write(STDERR_FILENO, current.data(), std::min<std::size_t>(current.size(), 10'000));
  written = ::write(STDERR_FILENO, "\n", 1);
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

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& file : files) corpus.push_back(bench::read_file(file));
  return corpus;
}

void try_input(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SEED COUNT CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const auto seed = std::strtoull(argv[1], nullptr, 10);
  const auto count = std::strtoull(argv[2], nullptr, 10);
  const auto corpus = read_corpus(argv[3]);
  if (corpus.empty()) {
    std::fprintf(stderr, "the corpus %s is empty\n", argv[3]);
    return 2;
  }
  watch_for_crashes();
  for (const std::string& input : corpus) try_input(input);
  bench::fuzz::Mutator mutator(corpus, seed);
  for (std::uint64_t i = 0; i < count; ++i) try_input(mutator.next());
  std::printf("%zu of the corpus and %llu damaged inputs, seed %llu: no crash\n", corpus.size(),
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed));
  return 0;
}
