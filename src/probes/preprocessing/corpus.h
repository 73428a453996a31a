// The documents that are prepared: generated, or read from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bench::preprocessing {

/// Of a document of plain text, and of a line of JSON, in bytes: a document is encoded by one
/// thread, with memory for all its tokens.
inline constexpr std::size_t kLongestPlain = std::size_t{1} << 20;
inline constexpr std::size_t kLongestLine = std::size_t{16} << 20;

struct Corpus {
  std::string text = {};                    // of all documents, one after another
  std::vector<std::uint64_t> begins = {0};  // of each, and the end of the last

  std::size_t size() const { return begins.size() - 1; }
  std::string_view document(std::size_t i) const {
    return std::string_view(text).substr(begins[i], begins[i + 1] - begins[i]);
  }
  std::vector<std::string_view> documents() const;
  void add(std::string_view document);
};

/// Documents of a file: each line's `text` if its name ends in .jsonl, else plain text, which is
/// cut behind the first line break after each 16 KiB, or at 1 MiB without one. Whole documents are
/// taken until they have `bytes` bytes; 0: all. Throws Error(input) naming file and line, also for
/// a longer line and a file without text; Error(environment) for one that cannot be read.
Corpus read_corpus(const std::filesystem::path& path, std::uint64_t bytes);

/// Lines of JSON that read_corpus() reads again, for other programs. Bytes that are not UTF-8 are
/// replaced. Throws Error(input) if the file exists, Error(environment) if it cannot be written.
void write_corpus(const std::filesystem::path& path, const Corpus& corpus);

}  // namespace bench::preprocessing
