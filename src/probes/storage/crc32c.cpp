#include "probes/storage/crc32c.h"

#include <array>
#include <cstring>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace bench::storage {
namespace {

constexpr std::uint32_t kReflected = 0x82f63b78u;
constexpr std::size_t kLane = 2048;  // bytes; the instruction has a latency of three cycles
constexpr std::size_t kLanes = 4;

using ByteTable = std::array<std::uint32_t, 256>;

constexpr ByteTable make_byte_table() {
  ByteTable table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1u) != 0 ? kReflected : 0u);
    table[i] = value;
  }
  return table;
}

constexpr ByteTable kByteTable = make_byte_table();

std::uint32_t one_byte(std::uint32_t state, std::byte byte) {
  return (state >> 8) ^ kByteTable[(state ^ static_cast<std::uint32_t>(byte)) & 0xffu];
}

/// The state after a lane of zero bytes. The map is linear over GF(2): a table for each byte of the
/// state.
class ZeroLane {
 public:
  ZeroLane() {
    for (std::size_t byte = 0; byte < 4; ++byte)
      for (std::uint32_t value = 0; value < 256; ++value) {
        std::uint32_t state = value << (8 * byte);
        for (std::size_t i = 0; i < kLane; ++i) state = one_byte(state, std::byte{0});
        tables_[byte][value] = state;
      }
  }
  std::uint32_t after(std::uint32_t state) const {
    return tables_[0][state & 0xffu] ^ tables_[1][(state >> 8) & 0xffu] ^
           tables_[2][(state >> 16) & 0xffu] ^ tables_[3][state >> 24];
  }

 private:
  std::array<ByteTable, 4> tables_{};
};

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

#if defined(__x86_64__)
#define BENCH_CRC_TARGET __attribute__((target("sse4.2")))
bool has_instructions() { return __builtin_cpu_supports("sse4.2") != 0; }
BENCH_CRC_TARGET inline std::uint32_t one_word(std::uint32_t state, std::uint64_t word) {
  return static_cast<std::uint32_t>(__builtin_ia32_crc32di(state, word));
}
#elif defined(__aarch64__)
#define BENCH_CRC_TARGET __attribute__((target("arch=armv8-a+crc")))
bool has_instructions() { return (getauxval(AT_HWCAP) & (1ul << 7)) != 0; }  // HWCAP_CRC32
BENCH_CRC_TARGET inline std::uint32_t one_word(std::uint32_t state, std::uint64_t word) {
  return __builtin_aarch64_crc32cx(state, word);
}
#endif

#if defined(BENCH_CRC_TARGET)
BENCH_CRC_TARGET std::uint32_t by_instructions(std::span<const std::byte> bytes,
                                               std::uint32_t state) {
  static const ZeroLane zero_lane;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kLanes * kLane; left -= kLanes * kLane, at += kLanes * kLane) {
    std::uint32_t a = state, b = 0, c = 0, d = 0;
    for (std::size_t i = 0; i < kLane; i += sizeof(std::uint64_t)) {
      a = one_word(a, word_at(at + i));
      b = one_word(b, word_at(at + kLane + i));
      c = one_word(c, word_at(at + 2 * kLane + i));
      d = one_word(d, word_at(at + 3 * kLane + i));
    }
    state = zero_lane.after(zero_lane.after(zero_lane.after(a) ^ b) ^ c) ^ d;
  }
  for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t), at += sizeof(std::uint64_t))
    state = one_word(state, word_at(at));
  for (; left > 0; --left, ++at) state = one_byte(state, *at);
  return state;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t state = ~before;
  for (const std::byte byte : bytes) state = one_byte(state, byte);
  return ~state;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(BENCH_CRC_TARGET)
  static const bool instructions = has_instructions();
  if (instructions) return ~by_instructions(bytes, ~before);
#endif
  return crc32c_portable(bytes, before);
}

}  // namespace bench::storage
