// What the stage `tokenize` times: all documents of a corpus to token IDs, by threads that take one
// document after another. And how the IDs are verified.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "probes/preprocessing/corpus.h"
#include "probes/preprocessing/reference_bpe.h"
#include "probes/preprocessing/token_documents.h"
#include "tokenizer/tokenizer.h"
#include "training/engine/worker_pool.h"

namespace bench::preprocessing {

class TokenizeWork {
 public:
  /// Tokenizer and corpus are borrowed.
  TokenizeWork(const tokenizer::Tokenizer& tokenizer, const Corpus& corpus, int threads);

  /// Each call begins with empty caches of pieces, as a first pass over a corpus does.
  void run(std::int64_t calls);
  /// Only what splits texts into pieces.
  void split(std::int64_t calls);

  // Of the last run:
  std::uint64_t tokens() const;
  tokenizer::PieceCounts counts() const;
  std::span<TokenId> ids(std::size_t document);
  /// Of all IDs, in the order of the documents.
  std::uint64_t checksum() const;
  /// SHA-256 of the IDs as 32-bit little-endian numbers, document after document.
  std::string sha256_of_ids() const;
  /// `end`, if given, is appended to each document.
  TokenDocuments documents(std::optional<TokenId> end) const;

  /// Documents whose tokens, decoded, are not their text.
  std::size_t undecodable() const;
  /// Documents whose pieces, one after another, are not their text, and 1 more unless the last
  /// split() found as many pieces as this does.
  std::size_t unsplit() const;
  struct Comparison {
    std::uint64_t pieces = 0;   // that were compared
    std::size_t differing = 0;  // documents with a piece whose tokens are others
  };
  /// With the reference: the first pieces of `count` documents drawn at random, without the longest
  /// ones, for which the reference takes too long.
  Comparison compare(const ReferenceBpe& reference, std::size_t count, std::uint64_t seed) const;

  /// Damages what the last run left, so that a call that does nothing is found.
  void spoil();

 private:
  template <class Work>
  void each_document(const Work& work);
  bool equals_reference(std::size_t document, const std::vector<std::string_view>& pieces,
                        const ReferenceBpe& reference, std::uint64_t& compared) const;

  const tokenizer::Tokenizer& tokenizer_;
  const Corpus& corpus_;
  training::WorkerPool pool_;
  std::vector<std::unique_ptr<tokenizer::Encoder>> encoders_ = {};
  /// The IDs of a document begin where its text does: it has no more of them than bytes.
  std::vector<TokenId> ids_;
  std::vector<std::uint64_t> counts_;  // of IDs, by document
  std::uint64_t pieces_ = 0;           // of the last split()
  alignas(64) std::atomic<std::size_t> next_{0};
};

}  // namespace bench::preprocessing
