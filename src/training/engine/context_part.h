// The tokens of every sample that one rank has (context parallelism): of 2 x ranks equal chunks of
// a sequence, rank r has number r and number 2 x ranks - 1 - r, so that causal attention is as much
// work for every rank, as in the training of Llama 3 (arXiv 2407.21783, section 3.3.2).
#pragma once

#include <array>
#include <cstdint>

namespace bench::training {

struct ContextPart {
  int rank = 0;
  int ranks = 1;

  bool is_whole() const { return ranks == 1; }
  int chunks() const { return 2 * ranks; }
  bool has_chunk(int chunk) const { return chunk >= 0 && chunk < chunks(); }
  /// Whether another rank has this chunk, which may be before the first or after the last.
  bool is_elsewhere(int chunk) const { return has_chunk(chunk) && owner(chunk) != rank; }
  /// The numbers of this rank's chunks, the first one first.
  std::array<int, 2> own_chunks() const { return chunks_of(rank); }
  std::array<int, 2> chunks_of(int of_rank) const { return {of_rank, chunks() - 1 - of_rank}; }
  /// The rank that has a chunk.
  int owner(int chunk) const { return chunk < ranks ? chunk : chunks() - 1 - chunk; }

  /// Of a sequence, which is a multiple of chunks() long unless one rank has all of it.
  std::int64_t tokens(std::int64_t sequence) const { return sequence / ranks; }
  /// The place in the sequence of this rank's token number `token`.
  std::int64_t position(std::int64_t sequence, std::int64_t token) const {
    if (is_whole()) return token;
    const std::int64_t length = sequence / chunks();
    const bool second = token >= length;
    return own_chunks()[second ? 1 : 0] * length + token - (second ? length : 0);
  }
  bool operator==(const ContextPart&) const = default;
};

}  // namespace bench::training
