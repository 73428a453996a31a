// Which ranks start a command, and as what: one on every rank, or one on every host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::external {

enum class Processes { one_a_rank, one_a_host };

/// How the command of one rank stands among the others, in the words of torch.distributed.
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

/// What a command is told alongside its placement.
struct Given {
  std::string job;
  std::uint64_t seed = 1;
  int repeat = 0;
  std::string master_address;
  int master_port = 0;
  std::string image, code, data;                      // as the suite says; may be empty
  std::string output;                                 // the job's folder on this host
  std::map<std::string, std::string> variables = {};  // the suite's own words
};

/// Every word that may stand in braces, with what it stands for: {seed}, {rank}, {data}, ...
/// Variables of the suite come on top; one that has another's name is refused with Error(input).
std::map<std::string, std::string> words_for(const Placement& placement, const Given& given);

/// Replaces {word} in `text`; "{{" and "}}" stand for single braces. Throws Error(input) for a word
/// that there is not, for one that stands for nothing, and for a lonely brace; `where` names the
/// parameter.
std::string fill(const std::string& text, const std::map<std::string, std::string>& words,
                 const std::string& where);

/// The command's whole environment: `inherited` without what belongs to our own launcher, what
/// docs/external.md lists, and the suite's own on top.
std::map<std::string, std::string> environment_for(
    const std::map<std::string, std::string>& inherited, const Placement& placement,
    const Given& given, const std::map<std::string, std::string>& suite);

}  // namespace bench::external
