#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "probes/data/formats/criteo_rows.h"
#include "probes/data/generate/writers.h"
#include "probes/training/sources/random.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kTokensOfShard = 100'000'000;
constexpr std::uint32_t kTokenMagic = 20240520, kVocabulary = 50257;  // GPT-2's, by llm.c
constexpr std::size_t kPiece = 1u << 16;                              // elements written at once

struct GeneratedRow {
  CriteoRow row;
  std::uint64_t missing = 0;  // bit i: of the 13 and 26 fields; it reads as 0
};

/// Small counts, words of eight digits, one field in twenty missing.
GeneratedRow row_of(std::uint64_t seed, std::uint64_t index) {
  const training::RandomStream stream = training::random_stream(seed, index);
  GeneratedRow made;
  made.row.label = stream.bits32(0) % 4 == 0 ? 1 : 0;
  std::uint64_t field = 0;
  const auto missing = [&] {
    const bool is = stream.bits32(100 + field) % 20 == 0;
    if (is) made.missing |= std::uint64_t{1} << field;
    ++field;
    return is;
  };
  for (std::int32_t& integer : made.row.integers) {
    const std::uint32_t bits = stream.bits32(1 + field);
    if (!missing()) integer = static_cast<std::int32_t>((bits >> 8) >> (8 + bits % 16));
  }
  for (std::uint32_t& word : made.row.words) {
    const std::uint32_t bits = stream.bits32(1 + field);
    if (!missing()) word = bits;
  }
  return made;
}

void append_line(std::string& text, const GeneratedRow& made) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text.push_back(made.row.label == 1 ? '1' : '0');
  std::uint64_t field = 0;
  const auto there = [&] { return (made.missing >> field++ & 1) == 0; };
  for (const std::int32_t integer : made.row.integers) {
    text.push_back('\t');
    if (there()) fmt::format_to(std::back_inserter(text), "{}", integer);
  }
  for (const std::uint32_t word : made.row.words) {
    text.push_back('\t');
    if (!there()) continue;
    for (int shift = 28; shift >= 0; shift -= 4) text.push_back(kDigits[word >> shift & 15]);
  }
  text.push_back('\n');
}

}  // namespace

Written write_tokens(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  std::uint64_t left = std::max<std::uint64_t>(wish.bytes / sizeof(std::uint16_t), 4096);
  for (int shard = 0; left > 0; ++shard) {
    const std::uint64_t count = std::min(left, kTokensOfShard);
    const auto stream = training::random_stream(wish.seed, static_cast<std::uint64_t>(shard));
    FileWriter file(folder / fmt::format("tokens_{:06}.bin", shard));
    std::array<std::uint32_t, 256> head{kTokenMagic, 1, static_cast<std::uint32_t>(count)};
    file.write(std::as_bytes(std::span(head)));
    std::vector<std::uint16_t> tokens;
    for (std::uint64_t at = 0; at < count; at += tokens.size()) {
      tokens.resize(std::min<std::uint64_t>(kPiece, count - at));
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::uint16_t>(training::below(stream.bits32(at + i), kVocabulary));
      file.write(std::as_bytes(std::span(tokens)));
    }
    written.bytes += file.bytes();
    written.samples += count;
    left -= count;
  }
  return written;
}

Written write_criteo_text(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  FileWriter file(folder / "clicks.tsv");
  std::string text;
  while (!written.enough(wish)) {
    const auto before = text.size();
    append_line(text, row_of(wish.seed, written.samples));
    written.add(text.size() - before);
    if (text.size() < kPiece) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  return written;
}

Written write_criteo_binary(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  FileWriter file(folder / "clicks.bin");
  std::vector<CriteoRow> rows;
  while (!written.enough(wish)) {
    rows.push_back(row_of(wish.seed, written.samples).row);
    written.add(sizeof(CriteoRow));
    if (rows.size() < kPiece / sizeof(CriteoRow)) continue;
    file.write(std::as_bytes(std::span(rows)));
    rows.clear();
  }
  file.write(std::as_bytes(std::span(rows)));
  return written;
}

}  // namespace bench::data
