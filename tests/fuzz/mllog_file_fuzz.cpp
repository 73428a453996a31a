// Fuzzes log parsing: every line gets its position in the file, and parsing in pieces gives the
// same result.
#include <cstdint>

#include "core/mllog.h"
#include "mlperf/follow/follow_log.h"
#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

/// The start of the counted line at a position.
std::size_t begin_of(std::string_view input, std::int64_t line) {
  const char breaks = input.find('\n') != input.npos ? '\n' : '\r';
  std::size_t begin = 0;
  for (; line > 1; --line) begin = input.find(breaks, begin) + 1;
  return begin;
}

template <typename Place>
void demand_token(std::string_view input, const Place& place) {
  demand(place.line > 0 && place.column > 0 && place.index >= 0, "a place that is none");
  const std::size_t at = begin_of(input, place.line) + static_cast<std::size_t>(place.column) - 1;
  demand(at < input.size() && input.substr(at).starts_with(bench::kMllogToken),
         "no token where one is said to be");
}

void demand_printable(const std::string& text) {
  for (const char c : text)
    demand(static_cast<unsigned char>(c) >= ' ' && c != 0x7f, "unprintable error text");
}

/// Lines are counted by CR if there is no LF.
void demand_same_in_pieces(std::string_view input, const bench::mlperf::Log& whole) {
  bench::mlperf::GrowingLog growing;
  for (std::size_t at = 0, size = 1; at < input.size(); at += size, size = size % 17 + 1)
    growing.feed(input.substr(at, size));
  growing.finish();
  const bench::mlperf::Log& log = growing.log();
  demand(log.mllog_lines == whole.mllog_lines && log.entries.size() == whole.entries.size() &&
             log.invalid_lines.size() == whole.invalid_lines.size(),
         "a log in pieces has other lines");
  const bool has_lf = input.find('\n') != input.npos;
  demand(!has_lf || log.lines == whole.lines, "a log in pieces has another number of lines");
  for (std::size_t i = 0; i < log.entries.size(); ++i)
    demand(log.entries[i].key == whole.entries[i].key &&
               same(log.entries[i].value, whole.entries[i].value) &&
               (!has_lf || (log.entries[i].line == whole.entries[i].line &&
                            log.entries[i].column == whole.entries[i].column)),
           "a line of a log in pieces is another");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bench::mlperf::Log log = bench::mlperf::read_log_text(input, "fuzz");
  demand(log.bytes == static_cast<std::int64_t>(size), "bytes went missing");
  demand(
      static_cast<std::int64_t>(log.entries.size() + log.invalid_lines.size()) <= log.mllog_lines,
      "more lines than there are");
  for (const auto& entry : log.entries) {
    demand_token(input, entry);
    demand(entry.line <= log.lines, "a line past the last");
    demand(same(entry.value, entry.value), "a value unlike itself");
    (void)entry.value.excerpt();
    (void)bench::dump(entry.metadata.to_json());
  }
  for (const auto& invalid : log.invalid_lines) {
    demand_token(input, invalid);
    demand_printable(invalid.text);
  }
  (void)bench::mlperf::facts_of(log);
  demand_same_in_pieces(input, log);
  return 0;
}
