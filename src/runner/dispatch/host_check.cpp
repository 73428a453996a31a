#include "runner/dispatch/host_check.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr Seconds kBeyondConnecting{
    10.0};  // to find and kill leftover processes, grace period included
constexpr std::size_t kMostOutput = 4096;
constexpr double kSlurmLimitS = 30.0;  // three times Slurm's default MessageTimeout

/// A running query of one host.
struct HostQuery {
  HostAnswer answer;
  std::unique_ptr<Process> process;
  std::string output, error;
};

/// The reason is the last line of ssh, but the first "error:" line of srun.
std::string error_line(const std::string& text) {
  const auto error = text.find("error: ");
  return error == std::string::npos ? last_line(text)
                                    : last_line(text.substr(0, text.find('\n', error)));
}

HostQuery start_query(const Place& place, const Reach& reach,
                      const std::vector<std::string>& words) {
  HostQuery query;
  query.answer.host = place.host;
  Command command;
  if (!place.here) command.argv = reach.words(place);
  command.unset = step_variables();
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  try {
    query.process = std::make_unique<Process>(command);
    query.process->input.close();
  } catch (const Error& error) {  // our own fault, not the host's
    say(Level::warning, place.host + ": cannot check whether the host is up: " + error.what());
  }
  return query;
}

/// Why a host that answered is excluded nevertheless.
std::string host_fault(const std::string& answer) {
  if (answer.find("cannot be killed") != std::string::npos) return "has a stuck process: " + answer;
  if (answer.find("cannot write to") != std::string::npos)
    return "has no writable temporary folder: " + answer;
  return "";
}

/// Slurm refused the step: the allocation has ended or reached its step limit. Not the host's
/// fault.
bool allocation_refuses(const std::string& words) {
  constexpr std::array<std::string_view, 7> kRefusals = {
      "has expired", "Invalid job id",        "already completing",          "revoked",
      "Step limit",  "Unable to create step", "Unable to confirm allocation"};
  return std::ranges::any_of(kRefusals, [&](std::string_view refusal) {
    return words.find(refusal) != std::string::npos;
  });
}

/// Evaluates an ended query. Exit code 255 is from ssh itself; others are from the host.
void conclude(HostQuery& query) {
  const Exit exit = query.process->reap();
  read_some(query.process->output, query.output, kMostOutput);
  read_some(query.process->error, query.error, kMostOutput);
  query.process.reset();
  const std::string words = error_line(query.error);
  const bool no_program = !exit.signaled && (exit.code == 126 || exit.code == 127 ||
                                             words.find("execve(): ") != std::string::npos);
  if (allocation_refuses(query.error)) {
    say(Level::warning, query.answer.host + ": host not checked: " + words);
  } else if (exit.clean()) {
    query.answer.swept = last_line(query.output);
    query.answer.trouble = host_fault(query.answer.swept);
  } else if (no_program) {
    query.answer.trouble = "cannot run bench-rank: " + words;
  } else {
    query.answer.trouble = fmt::format("does not answer: {}", words.empty() ? exit.text() : words);
  }
}

bool poll_all(std::vector<HostQuery>& queries) {
  bool all = true;
  for (HostQuery& query : queries) {
    if (!query.process) continue;
    read_some(query.process->output, query.output, kMostOutput);
    read_some(query.process->error, query.error, kMostOutput);
    if (query.process->ended())
      conclude(query);
    else
      all = false;
  }
  return all;
}

std::vector<HostAnswer> query_all(const std::vector<Place>& places, const Reach& reach,
                                  Seconds limit, const std::vector<std::string>& words) {
  std::vector<HostQuery> queries;
  for (const Place& place : places) queries.push_back(start_query(place, reach, words));
  const auto deadline = after(limit);
  while (!poll_all(queries) && Clock::now() < deadline) poll(nullptr, 0, 20);
  std::vector<HostAnswer> answers;
  for (HostQuery& query : queries) {
    if (query.process)
      query.answer.trouble = fmt::format("does not answer within {:g} s", limit.value);
    answers.push_back(std::move(query.answer));
  }
  return answers;
}

Seconds agent_limit(const LaunchSettings& settings) {
  return {settings.connect_timeout_s + kBeyondConnecting.value};
}

/// The container image may have to be fetched first.
Seconds step_limit(const LaunchSettings& settings) {
  return {std::max(kSlurmLimitS, static_cast<double>(settings.start_timeout_s))};
}

std::string summary_of(const std::vector<HostAnswer>& answers) {
  std::string text;
  for (const HostAnswer& answer : answers)
    text += (text.empty() ? "" : "; ") + answer.host + ": " +
            (answer.trouble.empty() ? answer.swept : answer.trouble);
  return text;
}

}  // namespace

std::string troubles_text(const std::vector<HostAnswer>& answers) {
  // ssh names the host in its words.
  const auto without_name = [](const HostAnswer& answer) {
    std::string text = answer.trouble;
    for (auto at = text.find(answer.host); at != std::string::npos;
         at = text.find(answer.host, at + 1))
      text.replace(at, answer.host.size(), "H");
    return text;
  };
  std::vector<std::pair<std::string, std::vector<const HostAnswer*>>> groups;
  for (const HostAnswer& answer : answers) {
    if (answer.trouble.empty()) continue;
    const std::string key = without_name(answer);
    auto group = std::ranges::find(groups, key, [](const auto& one) { return one.first; });
    if (group == groups.end()) group = groups.insert(group, {key, {}});
    group->second.push_back(&answer);
  }
  std::string text;
  for (const auto& [key, hosts] : groups) {
    std::vector<std::string> names;
    for (const HostAnswer* host : hosts) names.push_back(host->host);
    text += text.empty() ? "" : "; ";
    text += compact_hostlist(names);
    if (names.size() > 1) text += fmt::format(" ({} of {} hosts)", names.size(), answers.size());
    text += " " + hosts.front()->trouble;
  }
  return text;
}

std::vector<std::string> sweep_command(const std::string& program, const std::string& token) {
  return {program, "--sweep", token};
}

std::vector<HostAnswer> answering_hosts(const std::vector<Place>& places,
                                        const LaunchSettings& settings, const std::string& program,
                                        const std::string& token) {
  return query_all(places, reach_by_agent(settings), agent_limit(settings),
                   sweep_command(program, token));
}

HostCheck check_through(const SlurmSite& site) {
  return [site](const std::vector<Place>& places, const LaunchSettings& settings,
                const std::string& program, const std::string& token) {
    return query_all(places, reach_by_step(site, StepInput::none), step_limit(settings),
                     sweep_command(program, token));
  };
}

std::string query_rank_states(const std::vector<Place>& places, const LaunchSettings& settings,
                              const std::string& program, const std::string& token) {
  return summary_of(query_all(places, reach_by_agent(settings), agent_limit(settings),
                              {program, "--states", token}));
}

RankStateQuery query_rank_states_through(const SlurmSite& site) {
  return [site](const std::vector<Place>& places, const LaunchSettings& settings,
                const std::string& program, const std::string& token) {
    return summary_of(query_all(places, reach_by_step(site, StepInput::none), step_limit(settings),
                                {program, "--states", token}));
  };
}

}  // namespace bench
