#include "training/sources/byte_reader.h"

#include <algorithm>
#include <cstring>

namespace bench::training {

std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<const std::byte> bytes) {
  std::uint64_t sum = sample_stream(bytes.size(), split, index).key;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    sum = random_bits(sum ^ word, 0);  // one-to-one in `word`: no change of one word is lost
  }
  return sum;
}

}  // namespace bench::training
