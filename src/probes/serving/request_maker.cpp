#include "probes/serving/request_maker.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/elements.h"

namespace bench::serving {
namespace {

constexpr std::array kWords = {
    "time",        "year",    "people",  "way",     "day",      "man",      "thing",
    "woman",       "life",    "child",   "world",   "school",   "state",    "family",
    "group",       "country", "problem", "hand",    "part",     "place",    "case",
    "week",        "company", "system",  "program", "question", "work",     "government",
    "number",      "night",   "point",   "home",    "water",    "room",     "mother",
    "area",        "money",   "story",   "fact",    "month",    "lot",      "right",
    "study",       "book",    "eye",     "job",     "word",     "business", "issue",
    "side",        "kind",    "head",    "house",   "service",  "friend",   "father",
    "power",       "hour",    "game",    "line",    "end",      "member",   "law",
    "car",         "city",    "name",    "team",    "minute",   "idea",     "body",
    "information", "back",    "parent",  "face",    "others",   "level",    "office",
    "door",        "health",  "person",  "art",     "war",      "history",  "party",
    "result",      "change",  "morning", "reason",  "research", "girl",     "guy",
    "moment",      "air",     "teacher", "force",   "education"};

/// What numbers are for, so that each has its own.
enum class Draw : std::uint64_t { prefix = 1, lengths, prompt, check, trial };

std::uint64_t bits_of(std::uint64_t seed, Draw draw, std::uint64_t number) {
  return random_bits(random_bits(seed, static_cast<std::uint64_t>(draw)), number);
}

int drawn(const TokenRange& range, std::uint64_t bits) {
  return range.low +
         static_cast<int>(bits % static_cast<std::uint64_t>(range.high - range.low + 1));
}

std::string body_of(const RequestSetting& setting, const std::string& prompt, int tokens) {
  Json body = {{"model", setting.model},
               {"max_tokens", tokens},
               {"temperature", 0},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  if (setting.chat)
    body["messages"] = Json::array({{{"role", "user"}, {"content", prompt}}});
  else
    body["prompt"] = prompt;
  if (setting.ignore_eos) body["ignore_eos"] = true;
  return dump(body);
}

}  // namespace

int WordTokens::words(int tokens) const {
  return std::max(1, static_cast<int>(std::lround((tokens - extra) / per_word)));
}

std::string random_words(std::uint64_t seed, int words) {
  std::string text;
  for (int i = 0; i < words; ++i) {
    if (i > 0) text += ' ';
    text += kWords[random_bits(seed, static_cast<std::uint64_t>(i)) % kWords.size()];
  }
  return text;
}

PlannedRequest request_number(const RequestSetting& setting, std::uint64_t number) {
  const auto every = static_cast<std::uint64_t>(setting.check_every);
  if (setting.checks > 0 && number % every == every - 1)
    return check_request(
        setting, static_cast<int>(number / every % static_cast<std::uint64_t>(setting.checks)));
  const std::uint64_t lengths = bits_of(setting.seed, Draw::lengths, number);
  const int prompt_tokens = drawn(setting.prompt, random_bits(lengths, 0));
  const int shared = std::min(setting.shared_prefix_tokens, prompt_tokens - 1);
  std::string prompt;
  if (shared > 0)
    prompt = random_words(bits_of(setting.salt, Draw::prefix, 0),
                          WordTokens{setting.word_tokens.per_word}.words(shared)) +
             " ";
  prompt += random_words(bits_of(setting.salt, Draw::prompt, number),
                         setting.word_tokens.words(prompt_tokens - std::max(0, shared)));
  const int output_tokens = drawn(setting.output, random_bits(lengths, 1));
  return {body_of(setting, prompt, output_tokens), output_tokens};
}

PlannedRequest check_request(const RequestSetting& setting, int check) {
  const std::string prompt = random_words(
      bits_of(setting.seed, Draw::check, static_cast<std::uint64_t>(check)), kCheckTokens);
  return {body_of(setting, prompt, kCheckTokens), kCheckTokens, check};
}

PlannedRequest trial_request(const RequestSetting& setting, int words) {
  const std::string prompt =
      random_words(bits_of(setting.salt, Draw::trial, static_cast<std::uint64_t>(words)), words);
  return {body_of(setting, prompt, kTrialTokens), kTrialTokens};
}

}  // namespace bench::serving
