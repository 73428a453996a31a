// Documents as token IDs, and the checksums by which they are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/tokenizer_spec.h"

namespace bench::preprocessing {

using tokenizer::TokenId;

struct TokenDocuments {
  std::vector<TokenId> tokens = {};         // of all documents, one after another
  std::vector<std::uint64_t> begins = {0};  // of each, and the end of the last

  std::size_t size() const { return begins.size() - 1; }
  std::span<const TokenId> document(std::size_t i) const {
    return std::span(tokens).subspan(begins[i], begins[i + 1] - begins[i]);
  }
  std::uint64_t bytes() const { return tokens.size() * sizeof(TokenId); }
};

/// Of one document's IDs, in order.
std::uint64_t tokens_checksum(std::span<const TokenId> tokens);

/// The sum of the documents' checksums: the same in any order of them; a lost, repeated or changed
/// document changes it.
std::uint64_t unordered_checksum(const TokenDocuments& documents);

}  // namespace bench::preprocessing
