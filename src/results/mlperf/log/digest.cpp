#include "results/mlperf/log/digest.h"

#include <bit>
#include <cstring>

namespace bench::mlperf {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr std::size_t kStripe = 32;

static_assert(std::endian::native == std::endian::little);

template <typename T>
std::uint64_t word_at(const char* at) {
  T word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

std::uint64_t merged(std::uint64_t hash, std::uint64_t lane) {
  return (hash ^ round_of(0, lane)) * kPrime1 + kPrime4;
}

/// Processes the whole stripes and removes them from the front.
std::uint64_t hash_stripes(std::string_view& bytes) {
  std::uint64_t a = kPrime1 + kPrime2, b = kPrime2, c = 0, d = 0 - kPrime1;
  const char* at = bytes.data();
  for (const char* end = at + bytes.size() / kStripe * kStripe; at != end; at += kStripe) {
    a = round_of(a, word_at<std::uint64_t>(at));
    b = round_of(b, word_at<std::uint64_t>(at + 8));
    c = round_of(c, word_at<std::uint64_t>(at + 16));
    d = round_of(d, word_at<std::uint64_t>(at + 24));
  }
  bytes.remove_prefix(bytes.size() / kStripe * kStripe);
  const std::uint64_t hash =
      std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return merged(merged(merged(merged(hash, a), b), c), d);
}

std::uint64_t with_rest(std::uint64_t hash, std::string_view rest) {
  for (; rest.size() >= 8; rest.remove_prefix(8))
    hash =
        std::rotl(hash ^ round_of(0, word_at<std::uint64_t>(rest.data())), 27) * kPrime1 + kPrime4;
  for (; rest.size() >= 4; rest.remove_prefix(4))
    hash = std::rotl(hash ^ word_at<std::uint32_t>(rest.data()) * kPrime1, 23) * kPrime2 + kPrime3;
  for (const char c : rest)
    hash = std::rotl(hash ^ static_cast<unsigned char>(c) * kPrime5, 11) * kPrime1;
  return hash;
}

}  // namespace

std::uint64_t digest_of(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  std::uint64_t hash = size >= kStripe ? hash_stripes(bytes) : kPrime5;
  hash = with_rest(hash + size, bytes);
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace bench::mlperf
