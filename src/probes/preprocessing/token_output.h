// Token files that `benchctl train llm` and llm.c read (training/sources/token_file.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "probes/preprocessing/token_documents.h"

namespace bench::preprocessing {

/// Writes train.bin and val.bin, which has a twentieth of the sequences and at least one. IDs have
/// two bytes if the vocabulary has up to 65,536, else four. Throws Error(input) for fewer than four
/// sequences, Error(environment) if a file cannot be written.
void write_token_files(const std::filesystem::path& folder, std::span<const TokenId> packed,
                       std::uint64_t length, TokenId vocabulary);

}  // namespace bench::preprocessing
