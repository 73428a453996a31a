// Which ranks start a command: every rank, or one rank of each host; and its place among all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::external {

enum class Processes { one_a_rank, one_a_host };

/// The place of one rank's command among all, in the terms of torch.distributed.
struct Placement {
  bool starts = true;  // whether this rank starts one at all
  int rank = 0;        // of the command, among all commands
  int world_size = 1;
  int local_rank = 0;  // on its host
  int local_world_size = 1;
  int node_rank = 0;  // its host's number, in the order of the ranks
  int nodes = 1;
};

/// `hosts`: the host of each of benchctl's ranks, in their order.
Placement place(const std::vector<std::string>& hosts, int rank, Processes processes);

/// What a command is given in addition to its placement.
struct Given {
  std::string job;
  std::uint64_t seed = 1;
  int repeat = 0;
  std::string master_address;
  int master_port = 0;
  std::string image, code, data;                      // from the suite; may be empty
  std::string output;                                 // the job's folder on this host
  std::map<std::string, std::string> variables = {};  // placeholders of the suite
};

/// The values of all placeholders: {seed}, {rank}, {data}, ... and the suite's variables. Throws
/// Error(input) for a variable with the name of a built-in placeholder.
std::map<std::string, std::string> words_for(const Placement& placement, const Given& given);

/// Replaces {word} in `text`; "{{" and "}}" stand for single braces. Throws Error(input) for an
/// unknown or empty placeholder and for an unmatched brace; `where` names the parameter.
std::string fill(const std::string& text, const std::map<std::string, std::string>& words,
                 const std::string& where);

/// The command's whole environment: `inherited` without the variables of our own launcher, plus
/// those that docs/external.md lists, plus those of the suite, which win.
std::map<std::string, std::string> environment_for(
    const std::map<std::string, std::string>& inherited, const Placement& placement,
    const Given& given, const std::map<std::string, std::string>& suite);

}  // namespace bench::external
