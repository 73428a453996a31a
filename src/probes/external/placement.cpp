#include "probes/external/placement.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "core/secret_names.h"
#include "core/text.h"

namespace bench::external {
namespace {

// With these a command would take itself for a rank of our own launcher.
constexpr std::array<std::string_view, 8> kLauncherPrefixes = {
    "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "ORTE_", "BENCH_PARAM_", "BENCH_GROUP_"};

bool is_ours(std::string_view name) {
  // The launcher sets the first for our own threads; the second is the address of the rendezvous.
  return name == "OMP_PROC_BIND" || name == "BENCH_RENDEZVOUS" ||
         std::ranges::any_of(kLauncherPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> names_of(const std::map<std::string, std::string>& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) names.push_back(name);
  return names;
}

const std::string& meaning_of(const std::string& word,
                              const std::map<std::string, std::string>& words,
                              const std::string& where) {
  const auto found = words.find(word);
  if (found == words.end())
    throw Error(ErrorKind::input,
                where + ": {" + printable(word) + "} is not a known placeholder." +
                    did_you_mean(word, names_of(words)),
                "placeholders: " + join(names_of(words), ", ") + "; write {{ for a literal brace");
  if (found->second.empty())
    throw Error(ErrorKind::input, where + ": {" + word + "} is not set",
                "set it in the suite or with --set CASE." + word + "=...");
  return found->second;
}

}  // namespace

Placement place(const std::vector<std::string>& hosts, int rank, Processes processes) {
  const std::string& own = hosts.at(static_cast<std::size_t>(rank));
  std::vector<std::string> nodes;
  for (const std::string& host : hosts)
    if (std::ranges::find(nodes, host) == nodes.end()) nodes.push_back(host);
  Placement placement;
  placement.nodes = static_cast<int>(nodes.size());
  placement.node_rank = static_cast<int>(std::ranges::find(nodes, own) - nodes.begin());
  const auto here = hosts.begin() + rank;
  placement.local_rank = static_cast<int>(std::count(hosts.begin(), here, own));
  if (processes == Processes::one_a_host) {
    placement.starts = placement.local_rank == 0;
    placement.rank = placement.node_rank;
    placement.world_size = placement.nodes;
    placement.local_rank = 0;
  } else {
    placement.rank = rank;
    placement.world_size = static_cast<int>(hosts.size());
    placement.local_world_size = static_cast<int>(std::ranges::count(hosts, own));
  }
  return placement;
}

std::map<std::string, std::string> words_for(const Placement& placement, const Given& given) {
  std::map<std::string, std::string> words = {
      {"job", given.job},
      {"seed", std::to_string(given.seed)},
      {"repeat", std::to_string(given.repeat)},
      {"rank", std::to_string(placement.rank)},
      {"world_size", std::to_string(placement.world_size)},
      {"local_rank", std::to_string(placement.local_rank)},
      {"local_world_size", std::to_string(placement.local_world_size)},
      {"node_rank", std::to_string(placement.node_rank)},
      {"nodes", std::to_string(placement.nodes)},
      {"master_address", given.master_address},
      {"master_port", std::to_string(given.master_port)},
      {"image", given.image},
      {"code", given.code},
      {"data", given.data},
      {"output", given.output}};
  for (const auto& [name, value] : given.variables)
    if (!words.emplace(name, value).second)
      throw Error(ErrorKind::input,
                  "variables: '" + printable(name) + "' is a built-in placeholder",
                  "choose another name");
  return words;
}

std::string fill(const std::string& text, const std::map<std::string, std::string>& words,
                 const std::string& where) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool brace = c == '{' || c == '}';
    if (!brace || (at + 1 < text.size() && text[at + 1] == c)) {
      result += c;
      at += brace ? 2 : 1;
      continue;
    }
    const auto end = text.find('}', at);
    if (c == '}' || end == std::string::npos)
      throw Error(ErrorKind::input, where + ": unmatched '" + c + "' in '" + printable(text) + "'",
                  "double it for a literal brace");
    result += meaning_of(text.substr(at + 1, end - at - 1), words, where);
    at = end + 1;
  }
  return result;
}

namespace {

/// An error would quote the value.
std::string fill_variable(const std::string& name, const std::string& value,
                          const std::map<std::string, std::string>& words) try {
  return fill(value, words, "env/" + name);
} catch (const Error& error) {
  if (!is_secret_name(name) && !has_credentials(value)) throw;
  throw Error(error.kind(), "env/" + printable(name) + ": a brace in its value (not shown here)",
              "double it for a literal brace");
}

}  // namespace

std::map<std::string, std::string> environment_for(
    const std::map<std::string, std::string>& inherited, const Placement& placement,
    const Given& given, const std::map<std::string, std::string>& suite) {
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : inherited)
    if (!is_ours(name)) env[name] = value;
  const auto both = [&](const std::string& name, const std::string& value) {
    env[name] = env["BENCH_" + name] = value;
  };
  both("RANK", std::to_string(placement.rank));
  both("WORLD_SIZE", std::to_string(placement.world_size));
  both("LOCAL_RANK", std::to_string(placement.local_rank));
  both("LOCAL_WORLD_SIZE", std::to_string(placement.local_world_size));
  both("NODE_RANK", std::to_string(placement.node_rank));
  both("MASTER_ADDR", given.master_address);
  both("MASTER_PORT", std::to_string(given.master_port));
  env["BENCH_NODES"] = std::to_string(placement.nodes);
  env["BENCH_JOB"] = given.job;
  env["BENCH_SEED"] = std::to_string(given.seed);
  env["BENCH_REPEAT"] = std::to_string(given.repeat);
  env["BENCH_IMAGE"] = given.image;
  env["BENCH_CODE"] = given.code;
  env["BENCH_DATA"] = given.data;
  env["BENCH_OUTPUT"] = given.output;
  // Python buffers its output to a pipe.
  env.emplace("PYTHONUNBUFFERED", "1");
  const auto words = words_for(placement, given);
  for (const auto& [name, value] : suite) env[name] = fill_variable(name, value, words);
  return env;
}

}  // namespace bench::external
