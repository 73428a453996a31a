// Hostile journals: each line is an entry or a warning; entries survive being appended and read.
#include <algorithm>
#include <cstdint>

#include "results/store/journal.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

namespace {

using namespace bench;
using fuzz::demand;

std::size_t lines_of(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) ++lines;
    at = end + 1;
  }
  return lines;
}

void check_again(const fuzz::InputFolder& folder, const JournalEntry& entry) {
  const auto path = folder.write("again.jsonl", "torn");
  append(path, entry);
  const Journal again = read_journal(path);
  demand(again.entries.size() == 1 && again.warnings.size() == 1, "an entry is lost");
  const JournalEntry& back = again.entries.front();
  // Text that is not UTF-8 cannot be in JSON, so nothing is replaced on the way.
  demand(back.time_ns == entry.time_ns && back.user == entry.user && back.kind == entry.kind &&
             back.run == entry.run && back.text == entry.text,
         "an entry changes: " + entry.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFolder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Journal journal = read_journal(folder.write("journal.jsonl", text));
  demand(journal.entries.size() + journal.warnings.size() == lines_of(text), "a line is lost");
  if (!journal.entries.empty()) check_again(folder, journal.entries.back());
  return 0;
}
