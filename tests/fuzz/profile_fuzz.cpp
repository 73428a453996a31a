// Hostile profiles and facts: refused with an Error, or compared; a profile survives being written
// and read again.
#include <cstdint>

#include "core/error.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/topology_output.h"
#include "runner/acceptance/profiles.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

bench::HostTopology host_of(const std::string& name, const bench::Json& facts) {
  bench::HostTopology host{name, bench::shape_of(facts)};
  host.profile = "p";
  return host;
}

void try_facts(const std::string& text) try {
  const bench::Json facts = bench::parse_json(text, "fuzz");
  const bench::Shape shape = bench::shape_of(facts);
  const bench::Profile learned = bench::learn_profile("p", shape, nullptr);
  demand(bench::compare(learned, shape).empty(), "a host is unlike itself: " + text);
  const auto fleet = bench::compare_fleet(
      {host_of("a", facts), host_of("b", nullptr), host_of("c", facts)}, {{"p", learned}});
  bench::to_terminal(bench::to_document(fleet), {});
  bench::to_json(fleet, "");
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

void try_profile(const std::string& text) try {
  const bench::Profile profile = bench::profile_from_text(text, "fuzz");
  const bench::Json json = bench::to_json(profile);
  demand(bench::to_json(bench::profile_from_json(json, "back")) == json,
         "a profile changes: " + bench::dump(json));
  bench::compare(profile, {});
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_facts(text);
  try_profile(text);
  return 0;
}
