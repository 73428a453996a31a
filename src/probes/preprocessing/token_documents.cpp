#include "probes/preprocessing/token_documents.h"

#include "core/elements.h"

namespace bench::preprocessing {

std::uint64_t tokens_checksum(std::span<const TokenId> tokens) {
  std::uint64_t sum = tokens.size();
  for (const TokenId token : tokens) sum = random_bits(sum, token);
  return sum;
}

std::uint64_t unordered_checksum(const TokenDocuments& documents) {
  std::uint64_t sum = documents.size();
  for (std::size_t i = 0; i < documents.size(); ++i) sum += tokens_checksum(documents.document(i));
  return sum;
}

}  // namespace bench::preprocessing
