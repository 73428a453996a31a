#include "probes/serving/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "probes/serving/server_events.h"

namespace bench::serving {
namespace {

constexpr std::size_t kMostSaid = 200;  // bytes of a server's words in a message
constexpr const char* kEndOfStream = "[DONE]";

/// The secret goes first: a part of it would not be recognized.
std::string shortened(std::string text, const std::string& secret) {
  hide(text, secret);
  if (text.size() > kMostSaid) text.resize(kMostSaid);
  return printable(text);
}

const Json* member(const Json& value, const char* name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

std::string text_in(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// {"error": {"message": "..."}}, {"error": "..."}, {"message": "..."} or {"detail": "..."}; "" for
/// none.
std::string error_in(const Json& value) {
  if (const Json* error = member(value, "error"))
    return error->is_string()                     ? error->get<std::string>()
           : member(*error, "message") != nullptr ? text_in(member(*error, "message"))
                                                  : dump(*error);
  return "";
}

std::string reason_of_status(const RawAnswer& raw, const std::string& secret) {
  std::string said = raw.body;
  if (const auto body = try_parse_json(raw.body)) {
    said = error_in(*body);
    for (const char* name : {"message", "detail"})
      if (said.empty()) said = text_in(member(*body, name));
  }
  return fmt::format("status {}{}", raw.status, said.empty() ? "" : ": " + shortened(said, secret));
}

double count_in(const Json& usage, const char* name) {
  const Json* value = member(usage, name);
  const double count =
      value != nullptr && value->is_number() ? value->get<double>() : Answer::kUnknownTokens;
  return count >= 0.0 ? count : Answer::kUnknownTokens;
}

/// The text of a choice: of a completion, of a piece of a chat, or of a model's reasoning before
/// it.
std::string text_of_choice(const Json& choice) {
  std::string text = text_in(member(choice, "text"));
  for (const char* where : {"delta", "message"})
    if (const Json* part = member(choice, where)) {
      for (const char* name : {"reasoning_content", "reasoning", "content"})
        text += text_in(member(*part, name));
    }
  return text;
}

Seconds time_of(const std::vector<Arrival>& arrivals, std::size_t end) {
  const auto found = std::ranges::lower_bound(arrivals, end, {}, &Arrival::end);
  return found == arrivals.end() ? Seconds{} : found->at;
}

/// Takes what one event says; returns why the answer does not count, or "".
std::string take(const std::string& data, Seconds at, const std::string& secret, Answer& answer) {
  const auto event = try_parse_json(data);
  if (!event || !event->is_object()) return "an event that is not JSON: " + shortened(data, secret);
  if (const std::string error = error_in(*event); !error.empty()) return shortened(error, secret);
  if (const Json* usage = member(*event, "usage")) {
    answer.prompt_tokens = count_in(*usage, "prompt_tokens");
    answer.output_tokens = count_in(*usage, "completion_tokens");
  }
  const Json* choices = member(*event, "choices");
  if (choices == nullptr || !choices->is_array() || choices->empty()) return "";
  const Json& choice = choices->front();
  const std::string text = text_of_choice(choice);
  if (!text.empty()) answer.times.push_back(at);
  answer.text += text;
  if (const std::string finish = text_in(member(choice, "finish_reason")); !finish.empty())
    answer.finish = finish;
  return "";
}

}  // namespace

double Answer::tokens() const {
  return std::isnan(output_tokens) ? static_cast<double>(times.size()) : output_tokens;
}

Answer read_answer(const RawAnswer& raw, const std::string& secret) {
  Answer answer;
  if (raw.status != 0 && raw.status / 100 != 2)
    answer.problem = reason_of_status(raw, secret);
  else if (raw.status == 0 || !raw.problem.empty())
    answer.problem = raw.problem.empty() ? "no answer" : raw.problem;
  if (!answer.problem.empty()) return answer;
  bool ended = false;
  for (const ServerEvent& event : server_events(raw.body)) {
    ended = event.data == kEndOfStream;
    if (ended) break;
    answer.problem = take(event.data, time_of(raw.arrivals, event.end), secret, answer);
    if (!answer.problem.empty()) return answer;
  }
  if (answer.times.empty())
    answer.problem = "an answer without text";
  else if (!ended && answer.finish.empty())
    answer.problem = "an answer without an end";
  return answer;
}

}  // namespace bench::serving
