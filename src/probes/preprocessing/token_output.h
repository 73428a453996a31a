// Token files that `benchctl train llm` and llm.c read (training/sources/token_file.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "probes/preprocessing/token_documents.h"

namespace bench::preprocessing {

inline constexpr const char* kTrainingFile = "train.bin";
inline constexpr const char* kEvaluationFile = "val.bin";

/// Throws Error(input) for fewer than four sequences.
void require_sequences(std::uint64_t sequences, std::uint64_t length);

/// Writes train.bin and val.bin, which has a twentieth of the sequences and at least two. The
/// sequences are in an order drawn by the seed, as best_fit packs them by the length of documents.
/// IDs have two bytes if the vocabulary has up to 65,536, else four. Throws Error(input) for fewer
/// than four sequences or a file that exists, Error(environment) if one cannot be written.
void write_token_files(const std::filesystem::path& folder, std::span<const TokenId> packed,
                       std::uint64_t length, TokenId vocabulary, std::uint64_t seed);

}  // namespace bench::preprocessing
