// The requests of a load on a server of a language model: prompts of random words, so that no cache
// of prefixes has them, and some whose answers are known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench::serving {

/// Both included.
struct TokenRange {
  int low = 1, high = 1;
};

/// Tokens of a prompt by its words, as the server counts: tokens = extra + per_word x words.
struct WordTokens {
  double per_word = 1.0, extra = 0.0;
  /// Words of so many tokens, one or more.
  int words(int tokens) const;
};

struct RequestSetting {
  std::string model = {};
  bool chat = false;  // messages instead of a prompt
  TokenRange prompt = {512, 512}, output = {128, 128};
  int shared_prefix_tokens = 0;  // of each prompt: the same in all, as of a system's instructions
  /// Asks the server to go on to the number of tokens. Not in OpenAI's interface, but vLLM, SGLang
  /// and llama.cpp know it.
  bool ignore_eos = true;
  WordTokens word_tokens = {};
  std::uint64_t seed = 1;  // of lengths and known answers
  std::uint64_t salt = 1;  // of the words of all others: a server may know those of an earlier run
  /// The same requests come again and again, with the greedy choice of tokens: their answers should
  /// not depend on what else the server does.
  int checks = 0;
  int check_every = 20;  // requests
};

struct PlannedRequest {
  std::string body;       // JSON
  int output_tokens = 0;  // wanted
  int check = -1;         // the number of a known answer; -1: none
};

/// So many random words, common ones of which each is a token in most vocabularies.
std::string random_words(std::uint64_t seed, int words);

/// Request number 0, 1, ... of a load: the same seed gives the same ones.
PlannedRequest request_number(const RequestSetting& setting, std::uint64_t number);
/// A request whose answer is known, of kCheckTokens tokens.
PlannedRequest check_request(const RequestSetting& setting, int check);
/// A request for a few tokens, of a prompt with so many words.
PlannedRequest trial_request(const RequestSetting& setting, int words);

inline constexpr int kCheckTokens = 32;
inline constexpr int kTrialTokens = 8;  // the first ones may have no text

}  // namespace bench::serving
