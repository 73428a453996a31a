#include "runner/hosts/launch_settings.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"

namespace bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchSettings, agent, agent_options, connect_timeout_s,
                                   keepalive_s, keepalive_count, start_timeout_s, interfaces, mca,
                                   env, rank_program, cuda_rank_program)

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool in_parameter(char c) { return is_lower(c) || is_digit(c) || c == '_'; }
bool in_variable(char c) { return in_parameter(c) || is_letter(c); }

/// Names are JSON keys, which the schema cannot check.
void check_names(const Json& object, bool (*allowed)(char), const std::string& where,
                 const std::string& form) {
  for (const auto& [name, value] : object.items())
    if (name.empty() || name.size() > 255 || !std::ranges::all_of(name, allowed) ||
        is_digit(name.front()))
      throw Error(ErrorKind::input, where + ": '" + printable(name) + "' is not a valid name",
                  "use " + form + ", not starting with a digit");
}

/// The first word is the program; an option there would go to the preceding command.
void check_agent(const Json& agent, const std::string& where) {
  const auto& program = agent.at(0).get_ref<const std::string&>();
  if (program.starts_with('-'))
    throw Error(ErrorKind::input, where + "/agent/0: '" + program + "' is not a program",
                "start with a program, for example [\"ssh\", \"-p\", \"2222\"]");
}

}  // namespace

LaunchSettings launch_settings_from_json(const Json& checked, const std::string& where) {
  check_agent(checked.at("agent"), where);
  check_names(checked.at("mca"), in_parameter, where + "/mca",
              "lower-case letters, digits and '_'");
  check_names(checked.at("env"), in_variable, where + "/env", "letters, digits and '_'");
  if (checked.at("mca").contains("plm_rsh_agent"))
    throw Error(ErrorKind::input,
                where + "/mca/plm_rsh_agent: benchctl sets this parameter from 'agent'",
                "set \"agent\" instead");
  return checked.get<LaunchSettings>();
}

Json to_json(const LaunchSettings& settings) { return settings; }

std::vector<std::string> agent_command(const LaunchSettings& settings) {
  std::vector<std::string> words = settings.agent;
  const bool is_ssh = std::filesystem::path(words.front()).filename() == "ssh";
  if (!settings.agent_options || !is_ssh) return words;
  // ssh uses the first value of an option, so the site's options go first.
  for (const std::string& option :
       {std::string("BatchMode=yes"),
        "ConnectTimeout=" + std::to_string(settings.connect_timeout_s),
        "ServerAliveInterval=" + std::to_string(settings.keepalive_s),
        "ServerAliveCountMax=" + std::to_string(settings.keepalive_count)}) {
    words.push_back("-o");
    words.push_back(option);
  }
  return words;
}

}  // namespace bench
