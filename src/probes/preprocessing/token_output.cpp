#include "probes/preprocessing/token_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/whole_file.h"
#include "training/sources/token_file.h"

namespace bench::preprocessing {
namespace {

constexpr std::uint64_t kEvaluated = 20;  // one sequence in so many

void put(std::string& bytes, std::uint32_t value, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

void write_tokens(const std::filesystem::path& path, std::span<const TokenId> tokens, int width) {
  if (tokens.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::input,
                fmt::format("{}: {} tokens, and a file of llm.c has up to 2^32", path.string(),
                            tokens.size()),
                "prepare less text at a time");
  std::string bytes;
  bytes.reserve(training::kTokenHeaderBytes + tokens.size() * static_cast<std::size_t>(width));
  put(bytes, width == 4 ? training::kLlama3Magic : training::kGpt2Magic, 4);
  put(bytes, 1, 4);  // version
  put(bytes, static_cast<std::uint32_t>(tokens.size()), 4);
  bytes.resize(training::kTokenHeaderBytes);
  for (const TokenId token : tokens) put(bytes, token, width);
  write_file(path, bytes);
}

}  // namespace

void write_token_files(const std::filesystem::path& folder, std::span<const TokenId> packed,
                       std::uint64_t length, TokenId vocabulary) {
  const std::uint64_t sequences = packed.size() / length;
  // Each file needs a token behind its last sequence.
  if (sequences < 4)
    throw Error(ErrorKind::input,
                fmt::format("{} sequences of {} tokens are too few for files to train on and to "
                            "evaluate on",
                            sequences, length),
                "prepare more text, or set the parameter sequence to less");
  const std::uint64_t kept = std::max<std::uint64_t>(sequences / kEvaluated, 2) * length;
  const int width = vocabulary <= 65536 ? 2 : 4;
  write_tokens(folder / "train.bin", packed.first(packed.size() - kept), width);
  write_tokens(folder / "val.bin", packed.last(kept), width);
}

}  // namespace bench::preprocessing
