// Token files of llm.c and nanoGPT.
//   llm.c: a header of 256 int32 {magic, version 1, number of tokens, 0...}, then the tokens; magic
//     20240520: uint16 (GPT-2), 20240801: uint32 (Llama 3)       (llm.c, dev/data/data_common.py)
//   nanoGPT: tokens of uint16 without a header, so the vocabulary must be stated
//                                                                (nanoGPT, data/*/prepare.py)
// All are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/sources/mapped_file.h"
#include "training/sources/token_source.h"

namespace bench::training {

inline constexpr std::size_t kTokenHeaderBytes = 256 * 4;
inline constexpr std::uint32_t kGpt2Magic = 20240520, kLlama3Magic = 20240801;

/// The tokens of one file, in its memory.
class TokenView {
 public:
  /// A file with a magic of llm.c is read as such, any other as nanoGPT's. Throws Error(input) with
  /// path, offset, value and remedy for a size that does not match header or type, another version,
  /// or another kind of llm.c file.
  TokenView(std::span<const std::byte> bytes, const std::string& path);

  std::uint64_t size() const { return tokens_.size() / width_; }
  bool has_header() const { return offset_ != 0; }
  std::uint32_t at(std::uint64_t index) const;
  /// A token's offset in the file.
  std::uint64_t offset(std::uint64_t index) const { return offset_ + index * width_; }

 private:
  std::span<const std::byte> tokens_;
  std::uint64_t offset_ = 0;
  std::size_t width_ = 2;
};

struct TokenFileOptions {
  std::vector<std::filesystem::path> train = {}, evaluation = {};
  int targets = 1024;
  /// Tokens are smaller. 0: that of the format (50257 for uint16 of llm.c, 128256 for uint32;
  /// nanoGPT has none).
  int vocabulary = 0;
};

/// Sequences of the files of each split, in order: sequence i of a file has the T + 1 tokens from
/// i * T on, so that each token but the first is a target once (B sequences are the B * T + 1
/// tokens of a batch in llm.c). The remainder of a file is not used.
class TokenFiles : public TokenSource {
 public:
  /// Throws Error(input) as TokenView does, and for a file shorter than one sequence;
  /// Error(usage) if a required vocabulary is missing.
  explicit TokenFiles(const TokenFileOptions& options);

  int vocabulary() const override { return vocabulary_; }
  int targets() const override { return targets_; }
  std::optional<std::uint64_t> size(Split split) const override { return shards(split).sequences; }
  bool has_oracle() const override { return false; }
  /// Throws Error(input) for a token outside the vocabulary.
  void read(Split split, std::uint64_t index, const TokenSample& sample) const override;

 private:
  struct Shard {
    MappedFile file;
    TokenView tokens;
    std::uint64_t first;  // sequence
  };
  struct Shards {
    std::vector<Shard> files = {};
    std::uint64_t sequences = 0;
  };
  Shards open(const std::vector<std::filesystem::path>& paths);
  const Shards& shards(Split split) const { return split == Split::train ? train_ : evaluation_; }

  int targets_, vocabulary_;
  Shards train_, evaluation_;
};

}  // namespace bench::training
