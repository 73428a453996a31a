// Hostile hosts files, host expressions, hostfiles and lists of nodes: refused with an Error, or
// they give hosts that survive being written and read again.
#include <cstdint>
#include <set>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/json.h"
#include "runner/hosts/host_import.h"
#include "runner/hosts/slurm_nodes.h"
#include "runner/plan/scopes.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

constexpr std::size_t kFew = 2000;  // more hosts teach nothing here and take long

template <class Attempt>
void attempt(Attempt attempt) try {
  attempt();
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

void try_expression(const std::string& text) {
  const auto names = bench::expand_hostlist(text, kFew);
  const std::set<std::string> distinct(names.begin(), names.end());
  const auto back = bench::expand_hostlist(bench::compact_hostlist(names), kFew);
  demand(back.size() == distinct.size() && std::set(back.begin(), back.end()) == distinct,
         "names change: " + text);
  for (const std::string& name : names)
    demand(!name.starts_with('-') && name.find_first_of(" ;|&$`'\"\n") == std::string::npos,
           "a name that a shell would read: " + name);
}

void check_inventory(const bench::Inventory& inventory) {
  const bench::Json json = bench::to_json(inventory);
  try {
    demand(bench::to_json(bench::inventory_from_json(json, "back")) == json,
           "an inventory changes: " + bench::dump(json));
  } catch (const bench::Error& error) {
    demand(false, std::string("an accepted inventory is refused: ") + error.what());
  }
}

void try_hosts_file(const std::string& text) {
  const auto inventory = bench::inventory_from_json(bench::parse_json(text, "fuzz"), "fuzz");
  if (inventory.hosts.size() < kFew) check_inventory(inventory);
}

void try_scope(const std::string& text) {
  const auto scope = bench::scope_from_json(bench::parse_json(text, "fuzz"));
  demand(bench::scope_from_json(bench::to_json(scope)) == scope, "a scope changes: " + text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt([&] { try_expression(text); });
  attempt([&] { try_hosts_file(text); });
  attempt([&] { try_scope(text); });
  attempt([&] { bench::import_hostfile(text, "fuzz"); });
  attempt([&] { bench::import_slurm(text, "fuzz", {}); });
  attempt([&] { bench::import_slurm(text, "fuzz", {.partition = "gpu", .all = true}); });
  return 0;
}
