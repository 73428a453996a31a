#include "training/sources/token_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

constexpr int kGpt2Vocabulary = 50257, kLlama3Vocabulary = 128256;

/// Other llm.c files, which could be mistaken for nanoGPT tokens.
const char* other_kind(std::uint32_t magic) {
  switch (magic) {
    case 20240522:
      return "an evaluation set (such as HellaSwag)";
    case 20240326:
      return "a model checkpoint";
    case 20240527:
      return "a training state";
    default:
      return nullptr;
  }
}

std::uint32_t word(std::span<const std::byte> bytes, std::size_t index) {
  return little_endian<std::uint32_t>(bytes.data() + 4 * index);
}

void check_header(std::span<const std::byte> bytes, const std::string& path, std::size_t width) {
  if (bytes.size() < kTokenHeaderBytes)
    throw Error(ErrorKind::input,
                fmt::format("{}: {} bytes, shorter than the header of {}", path, bytes.size(),
                            kTokenHeaderBytes),
                "the file is truncated: recreate or copy it again");
  if (word(bytes, 1) != 1)
    throw Error(
        ErrorKind::input,
        fmt::format("{}: unsupported version {} at offset 4, expected 1", path, word(bytes, 1)),
        "recreate the file with llm.c's data scripts of 2024-05 or later");
  const std::uint64_t promised = kTokenHeaderBytes + std::uint64_t{word(bytes, 2)} * width;
  if (bytes.size() != promised)
    throw Error(
        ErrorKind::input,
        fmt::format(
            "{}: {} tokens of {} bytes (offset 8) require a file of {} bytes, but it has {}", path,
            word(bytes, 2), width, promised, bytes.size()),
        "the file is truncated or has extra data: recreate or copy it again");
}

}  // namespace

TokenView::TokenView(std::span<const std::byte> bytes, const std::string& path) : tokens_(bytes) {
  const std::uint32_t magic = bytes.size() >= 4 ? word(bytes, 0) : 0;
  if (const char* kind = other_kind(magic))
    throw Error(
        ErrorKind::input,
        fmt::format("{}: magic {} at offset 0: the file is {}, not tokens", path, magic, kind),
        "name a token file: magic 20240520 or 20240801, or none (nanoGPT)");
  if (magic == kGpt2Magic || magic == kLlama3Magic) {
    width_ = magic == kLlama3Magic ? 4 : 2;
    check_header(bytes, path, width_);
    offset_ = kTokenHeaderBytes;
    tokens_ = bytes.subspan(kTokenHeaderBytes);
  } else if (bytes.size() % 2 != 0) {
    throw Error(
        ErrorKind::input,
        fmt::format("{}: no llm.c magic at offset 0 ({}), and {} bytes are not a multiple of the "
                    "2 bytes of a token",
                    path, magic, bytes.size()),
        "name a token file of llm.c or nanoGPT, or copy the file again");
  }
}

std::uint32_t TokenView::at(std::uint64_t index) const {
  const std::byte* from = tokens_.data() + index * width_;
  return width_ == 4 ? little_endian<std::uint32_t>(from) : little_endian<std::uint16_t>(from);
}

TokenFiles::TokenFiles(const TokenFileOptions& options)
    : targets_(options.targets), vocabulary_(options.vocabulary) {
  if (targets_ < 1)
    throw Error(ErrorKind::usage, fmt::format("invalid sequence length: {} targets", targets_),
                "use at least 1");
  train_ = open(options.train);
  evaluation_ = open(options.evaluation);
}

TokenFiles::Shards TokenFiles::open(const std::vector<std::filesystem::path>& paths) {
  Shards shards;
  const auto stride = static_cast<std::uint64_t>(targets_);
  for (const std::filesystem::path& path : paths) {
    MappedFile file(path);
    const TokenView tokens(file.bytes(), file.path());
    if (vocabulary_ == 0 && !tokens.has_header())
      throw Error(ErrorKind::usage,
                  file.path() + ": a token file without a header does not state its vocabulary",
                  "add --vocabulary N (the parameter vocabulary of a suite): 50257 for GPT-2, "
                  "otherwise see meta.pkl next to the file");
    if (vocabulary_ == 0)
      vocabulary_ = tokens.offset(1) - tokens.offset(0) == 4 ? kLlama3Vocabulary : kGpt2Vocabulary;
    if (tokens.size() < stride + 1)
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} tokens, fewer than one sequence of {}", file.path(),
                              tokens.size(), stride + 1),
                  "use shorter sequences or a longer file");
    const std::uint64_t first = shards.sequences;
    shards.sequences += (tokens.size() - 1) / stride;
    shards.files.push_back({std::move(file), tokens, first});
  }
  return shards;
}

void TokenFiles::read(Split split, std::uint64_t index, const TokenSample& sample) const {
  check_fits(sample, targets_, false);
  const Shards& from = shards(split);
  if (index >= from.sequences)
    throw Error(ErrorKind::internal,
                fmt::format("sequence {} is out of range: the file has {}", index, from.sequences));
  const auto shard = std::prev(
      std::upper_bound(from.files.begin(), from.files.end(), index,
                       [](std::uint64_t wanted, const Shard& s) { return wanted < s.first; }));
  const std::uint64_t start = (index - shard->first) * static_cast<std::uint64_t>(targets_);
  for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
    const std::uint32_t token = shard->tokens.at(start + t);
    if (token >= static_cast<std::uint32_t>(vocabulary_))
      throw Error(
          ErrorKind::input,
          fmt::format("{}: token {} at offset {} is outside the vocabulary of {}",
                      shard->file.path(), token, shard->tokens.offset(start + t), vocabulary_),
          "set the vocabulary that the tokens were generated with");
    sample.tokens[t] = static_cast<std::int32_t>(token);
  }
}

}  // namespace bench::training
