#include "runner/host_check.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "runner/rank_process.h"

namespace bench {
namespace {

constexpr Seconds kBeyondConnecting{10.0};  // to find and end what is left, kill grace included
constexpr std::size_t kMostWords = 4096;

/// One host being asked.
struct Question {
  HostAnswer answer;
  std::unique_ptr<Process> process;
  std::string output, error;
};

void read_all(const Descriptor& fd, std::string& text) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), bytes, sizeof bytes);
    if (got <= 0) return;
    if (text.size() < kMostWords) text.append(bytes, static_cast<std::size_t>(got));
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const auto begin = text.rfind('\n');
  return printable(begin == std::string::npos ? text : text.substr(begin + 1));
}

Question ask(const Place& place, const LaunchSettings& settings, const std::string& program,
             const std::string& token) {
  Question question;
  question.answer.host = place.host;
  Command command;
  if (!place.here) {
    command.argv = agent_words(settings);
    command.argv.push_back(place.address);
  }
  for (std::string& word : sweep_command(program, token)) command.argv.push_back(std::move(word));
  try {
    question.process = std::make_unique<Process>(command);
    question.process->input.close();
  } catch (const Error& error) {
    question.answer.trouble = fmt::format("cannot be asked: {}", error.what());
  }
  return question;
}

/// What the end of the question says of the host. 255 is ssh's own; others come from the host.
void conclude(Question& question) {
  const Exit exit = question.process->reap();
  read_all(question.process->output, question.output);
  read_all(question.process->error, question.error);
  question.process.reset();
  const std::string words = last_line(question.error);
  if (exit.clean()) {
    question.answer.swept = last_line(question.output);
    if (question.answer.swept.find("does not end") != std::string::npos)
      question.answer.trouble = "is wedged: " + question.answer.swept;
  } else if (!exit.signaled && (exit.code == 126 || exit.code == 127)) {
    question.answer.trouble = "has no bench-rank that runs there: " + words;
  } else {
    question.answer.trouble =
        fmt::format("does not answer: {}", words.empty() ? exit.text() : words);
  }
}

bool look(std::vector<Question>& questions) {
  bool all = true;
  for (Question& question : questions) {
    if (!question.process) continue;
    read_all(question.process->output, question.output);
    read_all(question.process->error, question.error);
    if (question.process->ended())
      conclude(question);
    else
      all = false;
  }
  return all;
}

}  // namespace

std::vector<std::string> sweep_command(const std::string& program, const std::string& token) {
  return {program, "--sweep", token};
}

std::vector<HostAnswer> answering_hosts(const std::vector<Place>& places,
                                        const LaunchSettings& settings, const std::string& program,
                                        const std::string& token) {
  std::vector<Question> questions;
  for (const Place& place : places) questions.push_back(ask(place, settings, program, token));
  const Seconds limit{settings.connect_timeout_s + kBeyondConnecting.value};
  const auto deadline = after(limit);
  while (!look(questions) && Clock::now() < deadline) poll(nullptr, 0, 20);
  std::vector<HostAnswer> answers;
  for (Question& question : questions) {
    if (question.process)
      question.answer.trouble = fmt::format("does not answer within {:g} s", limit.value);
    answers.push_back(std::move(question.answer));
  }
  return answers;
}

}  // namespace bench
