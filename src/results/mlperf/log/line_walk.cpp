#include "results/mlperf/log/line_walk.h"

#include <algorithm>
#include <cstring>

#include "core/mllog.h"

namespace bench::mlperf {
namespace {

std::size_t find_token(std::string_view bytes, std::size_t from) {
  const void* found =
      ::memmem(bytes.data() + from, bytes.size() - from, kMllogToken.data(), kMllogToken.size());
  return found == nullptr
             ? bytes.npos
             : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
}

}  // namespace

std::int64_t count_bytes(std::string_view bytes, char wanted) {
  // Sums of 255 comparisons fit in a byte, so the compiler can vectorise with 16 or 32 lanes.
  constexpr std::size_t kLanes = 32;
  constexpr std::size_t kBlock = kLanes * 255;
  std::int64_t total = 0;
  for (; bytes.size() >= kLanes;) {
    const std::size_t rounds = std::min(bytes.size(), kBlock) / kLanes;
    unsigned char sums[kLanes] = {};
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sums[lane] = static_cast<unsigned char>(sums[lane] +
                                                (bytes[round * kLanes + lane] == wanted ? 1 : 0));
    for (const unsigned char sum : sums) total += sum;
    bytes.remove_prefix(rounds * kLanes);
  }
  return total + std::ranges::count(bytes, wanted);
}

LineWalk::LineWalk(std::string_view bytes)
    : bytes_(bytes), break_(bytes.find('\n') != bytes.npos ? '\n' : '\r') {}

/// The first LF or CR from here on. Searches in growing steps: with one memchr for each of the two,
/// a log with only one kind would be scanned to its end for every line.
std::size_t LineWalk::end_of_line(std::size_t from) const {
  for (std::size_t step = 512; from < bytes_.size(); step *= 2) {
    const std::string_view part = bytes_.substr(from, step);
    const std::size_t lf = part.find('\n');
    const std::size_t cr = part.substr(0, lf).find('\r');
    if (cr != part.npos) return from + cr;
    if (lf != part.npos) return from + lf;
    from += part.size();
  }
  return bytes_.size();
}

void LineWalk::count_up_to(std::size_t place) {
  const std::string_view part = bytes_.substr(counted_, place - counted_);
  const std::int64_t breaks = count_bytes(part, break_);
  counted_ = place;
  line_ += breaks;
  if (breaks > 0) line_begin_ = place - part.size() + part.rfind(break_) + 1;
}

bool LineWalk::next(TokenLine& found) {
  std::size_t token = at_ <= bytes_.size() ? find_token(bytes_, at_) : bytes_.npos;
  if (token == bytes_.npos) {
    count_up_to(bytes_.size());
    if (line_begin_ == bytes_.size()) --line_;  // the last line ends with the last line break
    at_ = bytes_.size() + 1;
    return false;
  }
  const std::size_t end = end_of_line(token);
  const std::string_view line = bytes_.substr(0, end);
  for (std::size_t again = token; again != line.npos;
       again = find_token(line, token + kMllogToken.size()))
    token = again;
  count_up_to(token);
  found.text = bytes_.substr(token, end - token);
  found.line = line_;
  found.column = static_cast<std::int64_t>(token - line_begin_) + 1;
  at_ = counted_ = end;  // a line contains no line break
  return true;
}

}  // namespace bench::mlperf
