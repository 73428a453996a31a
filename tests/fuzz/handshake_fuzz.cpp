// Hostile introductions of a rank process (its "program" record): read without harm; what is wrong
// is told in printable words.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "core/wire.h"
#include "runner/dispatch/handshake.h"
#include "tests/fuzz/demand.h"

namespace {

using namespace bench;
using fuzz::demand;

bool printable_text(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

void check(const Record& record) {
  const Handshake handshake = read_handshake(record, 1'700'000'000'000'000'000);
  std::vector<Place> places(2);
  places[0].host = "node01";
  places[1].host = "node02.cluster";
  const VersionMismatch mismatch = find_mismatch(handshake, places, "bench-rank", "0.1.0");
  demand(printable_text(mismatch.reason), "an odd character in a reason: " + mismatch.reason);
  for (const std::string& host : mismatch.hosts)
    demand(host == "node01" || host == "node02.cluster", "a host that was not asked: " + host);
  if (mismatch.reason.empty()) demand(handshake.versions.size() == 2, "passes without its hosts");
  for (const auto& [host, ahead] : handshake.clocks)
    if (const Json facts = clock_facts(ahead); !facts.is_null())
      demand(printable_text(facts["warnings"][0].get<std::string>()), "an odd character");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::may_refuse([&] { check(record_from_json(parse_json(text, "fuzz"))); });
  // The body alone: what else a record has is record_fuzz's.
  fuzz::may_refuse([&] {
    check({"", "node01", 0, 1'700'000'000'000'000'000, Facts{"program", parse_json(text, "fuzz")}});
  });
  return 0;
}
