#include "tokenizer/rank_file.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "tokenizer/split_pattern.h"

namespace bench::tokenizer {
namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (is_digit(c)) return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Nothing unless the text is base64 with its padding (RFC 4648).
std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  unsigned bits = 0, kept = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const int value = base64_value(c);
    if (value < 0) return {};
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffff;
    kept += 6;
    if (kept < 8) continue;
    kept -= 8;
    bytes += static_cast<char>(bits >> kept & 0xff);
  }
  return bytes;
}

/// Control tokens that the file does not list (tiktoken, openai_public.py; Llama 3, tokenizer.py).
std::vector<AddedToken> control_tokens(std::string_view pattern) {
  if (pattern == "gpt2") return {{50256, "<|endoftext|>", true}};
  if (pattern == "cl100k_base")
    return {{100257, "<|endoftext|>", true},
            {100258, "<|fim_prefix|>", true},
            {100259, "<|fim_middle|>", true},
            {100260, "<|fim_suffix|>", true},
            {100276, "<|endofprompt|>", true}};
  if (pattern == "o200k_base")
    return {{199999, "<|endoftext|>", true}, {200018, "<|endofprompt|>", true}};
  return {{128000, "<|begin_of_text|>", true},
          {128001, "<|end_of_text|>", true},
          {128006, "<|start_header_id|>", true},
          {128007, "<|end_header_id|>", true},
          {128009, "<|eot_id|>", true}};
}

}  // namespace

TokenizerSpec parse_rank_file(std::string_view text, std::string_view pattern,
                              const std::string& origin) {
  TokenizerSpec spec;
  spec.origin = origin;
  spec.whole_pieces = true;
  spec.patterns = {named_pattern(pattern)};
  std::unordered_set<std::string> seen;
  std::size_t number = 0;
  for (const std::string_view line : words_of(text, "\n")) {
    ++number;
    const auto refuse = [&](const std::string& what) {
      return Error(
          ErrorKind::input,
          fmt::format("{}: token {}: {}: '{}'", printable(origin), number, what,
                      printable(line.substr(0, 60))),
          "each line of a rank file has the base64 of a token, a space and a rank below 2^24");
    };
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words.size() != 2) throw refuse("expected two words");
    auto token = from_base64(words[0]);
    if (!token) throw refuse("not base64");
    if (token->size() > kLongestToken) throw refuse("a token of more than 1024 bytes");
    const auto rank = parse_as<TokenId>(words[1]);
    if (!rank || *rank >= kMostTokens) throw refuse("not a rank");
    // A file of few lines may not ask for a large table.
    if (*rank > 2 * text.size()) throw refuse("a rank far beyond the number of tokens");
    if (*rank >= spec.tokens.size()) spec.tokens.resize(*rank + 1);
    if (!spec.tokens[*rank].empty()) throw refuse("a rank for the second time");
    if (!seen.insert(*token).second) throw refuse("a token for the second time");
    spec.tokens[*rank] = std::move(*token);
  }
  for (AddedToken& token : control_tokens(pattern)) {
    // Ours, with fewer tokens, have none of the model's control tokens.
    if (token.id < spec.tokens.size() ? spec.tokens[token.id].empty()
                                      : token.id < spec.tokens.size() + 256)
      spec.added.push_back(std::move(token));
  }
  spec.byte_tokens();
  spec.merges = merges_of_ranks(spec.tokens);
  return spec;
}

}  // namespace bench::tokenizer
