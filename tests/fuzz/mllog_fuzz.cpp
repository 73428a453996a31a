// Fuzzes MLLOG lines: each is a line, an error or neither; a line survives a round trip and fits in
// a record.
#include <cstdint>

#include "core/mllog.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using bench::fuzz::demand;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bench::MllogParse parsed = bench::parse_mllog(input);
  demand(!parsed.line || parsed.trouble.empty(), "a line with trouble");
  for (const char c : parsed.trouble)
    demand(static_cast<unsigned char>(c) >= ' ' && c != 0x7f,
           "trouble that is not printable: " + parsed.trouble);
  if (!parsed.line) return 0;
  const std::string text = bench::to_text(*parsed.line);
  demand(text.find_first_of("\r\n") == std::string::npos, "more than a line: " + text);
  const bench::MllogParse again = bench::parse_mllog("3: " + text);
  demand(again.line.has_value(), "refuses what it wrote: " + again.trouble + ": " + text);
  demand(bench::to_text(*again.line) == text, "changes on the way: " + text);
  bench::parse_json(bench::dump(bench::to_json(*parsed.line)), "what a record keeps");
  return 0;
}
