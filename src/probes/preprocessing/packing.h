// Documents packed into sequences of T tokens for training.
//   concatenate: one after another; a document that does not fit goes on in the next sequence. Only
//     the last sequence is padded (GPT-3 and most pretrainings).
//   best_fit: whole documents, from the longest on, each into the fullest sequence that it fits
//   into
//     (best-fit decreasing; Ding et al. 2024, "Fewer Truncations Improve Language Modeling"). Only
//     documents longer than T are cut, into sequences of their own and a rest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "probes/preprocessing/token_documents.h"
#include "training/engine/worker_pool.h"

namespace bench::preprocessing {

enum class Packing { concatenate, best_fit };
inline constexpr NameTable<Packing, 2> kPackings{
    {{{Packing::concatenate, "concatenate"}, {Packing::best_fit, "best_fit"}}}};

/// A part of a document, and its place in the packed tokens.
struct PackedPart {
  std::uint64_t from = 0;  // in the tokens of all documents
  std::uint64_t to = 0;    // in the tokens of all sequences
  std::uint64_t tokens = 0;
};

class PackWork {
 public:
  /// The documents are borrowed; sequences have `length` tokens, at least 2. `padding` fills them
  /// up.
  PackWork(const TokenDocuments& documents, Packing packing, std::uint64_t length, TokenId padding,
           int threads);

  void run(std::int64_t calls);
  /// Overwrites the sequences with what is no padding, so that a call that does nothing is found.
  void spoil();

  // Of the last run:
  std::uint64_t sequences() const { return packed_.size() / length_; }
  std::span<const TokenId> packed() const { return packed_; }
  std::vector<TokenId>& packed() { return packed_; }
  std::vector<PackedPart>& parts() { return parts_; }
  /// Padding / all tokens of the sequences.
  double padding_share() const;
  /// Documents in more than one sequence / all documents.
  double cut_share() const;
  /// Tokens that are not exactly once in the sequences; places that hold neither a token nor
  /// padding; and parts that cross a sequence or are not what the packing says: of concatenate, in
  /// the order of the documents; of best_fit, of one document, and all of it if it fits. 0 if all
  /// is right.
  std::uint64_t faults() const;

 private:
  void plan();
  void plan_concatenation();
  void plan_best_fit();
  void divide();
  void copy();
  bool is_allowed(const PackedPart& part) const;

  const TokenDocuments& documents_;
  Packing packing_;
  std::uint64_t length_;
  TokenId padding_;
  training::WorkerPool pool_;
  std::vector<PackedPart> parts_ = {};  // by sequence
  std::vector<TokenId> packed_ = {};
  std::uint64_t planned_ = 0;  // sequences

  // Of best_fit, kept between runs.
  struct Piece {
    std::uint64_t from;
    std::uint64_t tokens;
  };
  std::vector<Piece> pieces_ = {}, sorted_ = {};
  std::vector<std::uint64_t> starts_ = {};             // of each length in sorted_
  std::vector<std::vector<std::uint32_t>> open_ = {};  // sequences by room left
  std::vector<std::uint64_t> room_words_ = {};         // bits: whether open_ has any
  std::vector<std::size_t> shares_;                    // first part of each thread, and the end
};

}  // namespace bench::preprocessing
