#include "tokenizer/tokenizer_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/text.h"

namespace bench::tokenizer {

TokenId TokenizerSpec::size() const {
  auto size = static_cast<TokenId>(tokens.size());
  for (const AddedToken& token : added) size = std::max(size, token.id + 1);
  return size;
}

std::array<TokenId, 256> TokenizerSpec::byte_tokens() const {
  std::array<TokenId, 256> ids = {};
  std::array<bool, 256> found = {};
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].size() != 1) continue;
    const auto byte = static_cast<unsigned char>(tokens[id][0]);
    ids[byte] = static_cast<TokenId>(id);
    found[byte] = true;
  }
  const auto missing = std::ranges::find(found, false);
  if (missing != found.end())
    throw Error(ErrorKind::input,
                fmt::format("{}: byte 0x{:02x} has no token, so some texts could not be encoded",
                            printable(origin), missing - found.begin()),
                "use a byte-level tokenizer, which has a token for each of the 256 bytes");
  return ids;
}

std::optional<TokenId> TokenizerSpec::end_of_text() const {
  for (const std::string_view name : {"<|endoftext|>", "<|end_of_text|>", "<|end▁of▁sentence|>",
                                      "<｜end▁of▁sentence｜>", "<EOT>", "</s>"})
    for (const AddedToken& token : added)
      if (token.text == name) return token.id;
  return {};
}

std::vector<Merge> merges_of_ranks(const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, TokenId> ids;
  ids.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (!tokens[id].empty()) ids.emplace(tokens[id], static_cast<TokenId>(id));
  std::vector<Merge> merges;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      const auto left = ids.find(token.substr(0, cut));
      if (left == ids.end()) continue;
      const auto right = ids.find(token.substr(cut));
      if (right == ids.end()) continue;
      if (merges.size() == kMostTokens)
        throw Error(ErrorKind::input, "the tokens have more than 2^24 merges",
                    "use a vocabulary that was learned from text");
      const auto result = static_cast<TokenId>(id);
      merges.push_back({left->second, right->second, result, result});
    }
  }
  return merges;
}

}  // namespace bench::tokenizer
