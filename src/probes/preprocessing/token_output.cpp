#include "probes/preprocessing/token_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "probes/preprocessing/new_file.h"
#include "probes/shared/permutation.h"
#include "training/sources/token_file.h"

namespace bench::preprocessing {
namespace {

constexpr std::uint64_t kEvaluated = 20;  // one sequence in so many

void put(std::string& bytes, std::uint32_t value, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

/// Sequences in the order of a permutation.
class SequenceWriter {
 public:
  SequenceWriter(std::span<const TokenId> packed, std::uint64_t length, TokenId vocabulary,
                 std::uint64_t seed)
      : packed_(packed),
        length_(length),
        width_(vocabulary <= 65536 ? 2 : 4),
        order_(packed.size() / length, seed) {}

  void write(const std::filesystem::path& path, std::uint64_t first, std::uint64_t end) const {
    const std::uint64_t tokens = (end - first) * length_;
    if (tokens > std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} tokens, and a file of llm.c has up to 2^32 - 1",
                              printable(path.string()), tokens),
                  "prepare less text at a time");
    NewFile file(path);
    std::string bytes;
    put(bytes, width_ == 4 ? training::kLlama3Magic : training::kGpt2Magic, 4);
    put(bytes, 1, 4);  // version
    put(bytes, static_cast<std::uint32_t>(tokens), 4);
    bytes.resize(training::kTokenHeaderBytes);
    file.write(bytes);
    for (std::uint64_t place = first; place < end; ++place) {
      bytes.clear();
      for (const TokenId token : packed_.subspan(order_.at(place) * length_, length_))
        put(bytes, token, width_);
      file.write(bytes);
    }
    file.finish();
  }

 private:
  std::span<const TokenId> packed_;
  std::uint64_t length_;
  int width_;
  Permutation order_;
};

}  // namespace

void require_sequences(std::uint64_t sequences, std::uint64_t length) {
  // Each file needs a token behind its last sequence.
  if (sequences < 4)
    throw Error(ErrorKind::input,
                fmt::format("{} sequences of {} tokens are too few for files to train on and to "
                            "evaluate on",
                            sequences, length),
                "prepare more text, or set the parameter sequence to less");
}

void write_token_files(const std::filesystem::path& folder, std::span<const TokenId> packed,
                       std::uint64_t length, TokenId vocabulary, std::uint64_t seed) {
  const std::uint64_t sequences = packed.size() / length;
  require_sequences(sequences, length);
  const std::uint64_t kept = std::max<std::uint64_t>(sequences / kEvaluated, 2);
  const SequenceWriter writer(packed, length, vocabulary, seed);
  writer.write(folder / kTrainingFile, 0, sequences - kept);
  writer.write(folder / kEvaluationFile, sequences - kept, sequences);
}

}  // namespace bench::preprocessing
