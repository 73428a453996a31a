#include "mlperf/log/log.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/mllog.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "mlperf/log/log_line.h"

namespace bench::mlperf {
namespace {

// Iterates over the lines with the token in one pass over the bytes.

/// The part of a line from its last token to its end.
struct TokenLine {
  std::string_view text = {};
  std::int64_t line = 0;    // as LogEntry::line
  std::int64_t column = 0;  // of that token, in bytes from 1
};

class LineWalk {
 public:
  explicit LineWalk(std::string_view bytes);

  /// Advances to the next line with a token; false at the end, when lines() is final.
  bool next(TokenLine& found);
  std::int64_t lines() const { return line_; }

 private:
  std::size_t end_of_line(std::size_t from) const;
  void count_up_to(std::size_t place);

  std::string_view bytes_;
  char break_;                  // the line break that is counted
  std::size_t at_ = 0;          // scanned up to here
  std::size_t counted_ = 0;     // line breaks counted up to here
  std::size_t line_begin_ = 0;  // start of the last counted line
  std::int64_t line_ = 1;
};

std::size_t find_token(std::string_view bytes, std::size_t from) {
#if defined(__SSE2__)
  // 16 places at once. Apart from tokens, few have ':' and three bytes later 'M'. memmem() prepares
  // a table in each call, which takes longer than most searches here.
  static_assert(kMllogToken.starts_with(":::M"));
  constexpr std::size_t kLanes = 16;
  const __m128i first = _mm_set1_epi8(':'), fourth = _mm_set1_epi8('M');
  for (; from + kLanes + kMllogToken.size() <= bytes.size(); from += kLanes) {
    const auto equal = [&](std::size_t ahead, __m128i wanted) {
      const char* at = bytes.data() + from + ahead;
      return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), wanted);
    };
    auto places =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(equal(0, first), equal(3, fourth))));
    for (; places != 0; places &= places - 1) {
      const std::size_t found = from + static_cast<std::size_t>(std::countr_zero(places));
      if (std::memcmp(bytes.data() + found, kMllogToken.data(), kMllogToken.size()) == 0)
        return found;
    }
  }
  return bytes.find(kMllogToken, from);
#else
  const void* found =
      ::memmem(bytes.data() + from, bytes.size() - from, kMllogToken.data(), kMllogToken.size());
  return found == nullptr
             ? bytes.npos
             : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
#endif
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
    const char* at = bytes.data();  // indices that are checked would prevent vectors
    for (const char* end = at + rounds * kLanes; at != end; at += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sums[lane] = static_cast<unsigned char>(sums[lane] + (at[lane] == wanted ? 1 : 0));
    for (const unsigned char sum : sums) total += sum;
    bytes.remove_prefix(rounds * kLanes);
  }
  return total + std::ranges::count(bytes, wanted);
}

namespace {

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
  constexpr std::size_t kFew = 256;  // bytes, with few breaks
  const std::string_view part = bytes_.substr(counted_, place - counted_);
  const std::size_t begin = std::exchange(counted_, place);
  if (part.size() <= kFew) {
    for (std::size_t at = part.find(break_); at != part.npos; at = part.find(break_, at + 1)) {
      ++line_;
      line_begin_ = begin + at + 1;
    }
    return;
  }
  const std::int64_t breaks = count_bytes(part, break_);
  line_ += breaks;
  if (breaks > 0) line_begin_ = begin + part.rfind(break_) + 1;
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

// The content of a file.

struct FileBytes {
  std::string_view text = {};
  std::shared_ptr<const void> owner = {};  // owns the memory of `text`
};

/// Larger files are mapped. Smaller ones are read, which takes less time than a page table for
/// each.
constexpr std::size_t kMostRead = std::size_t{4} << 20;

FileBytes owned(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

FileBytes mapped(const Descriptor& file, std::size_t size, const std::string& name) {
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) throw_errno("map " + name + " into memory");
  return {{static_cast<const char*>(memory), size},
          std::shared_ptr<const void>(
              memory, [size](const void* what) { ::munmap(const_cast<void*>(what), size); })};
}

/// Shorter than `size` if the file has become so.
FileBytes read_at_once(const Descriptor& file, std::size_t size, const std::string& name) {
  const std::shared_ptr<char[]> owner(new char[size]);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.get(), owner.get() + done, size - done);
    if (got == 0) break;
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      throw_errno("read " + name);
  }
  return {{owner.get(), done}, owner};
}

FileBytes read_to_end(const Descriptor& file, const std::string& name) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got == 0) return owned(std::move(text));
    if (got > 0)
      text.append(block, 0, static_cast<std::size_t>(got));
    else if (errno != EINTR)
      throw_errno("read " + name);
  }
}

/// Reads a pipe to its end. Throws Error(environment), or Error(input) for a folder.
FileBytes bytes_of_file(const std::filesystem::path& path) {
  const std::string name = printable(path.string());
  if (std::filesystem::is_directory(path))
    throw Error(ErrorKind::input, name + " is a folder, not a log", "pass a file in it");
  const Descriptor file = open_input(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("stat " + name);
  const bool has_size = S_ISREG(status.st_mode) && status.st_size > 0;  // sizes in /proc are 0
  if (!has_size) return read_to_end(file, name);
  const auto size = static_cast<std::size_t>(status.st_size);
  return size <= kMostRead ? read_at_once(file, size, name) : mapped(file, size, name);
}

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

Digest digest_of(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  std::uint64_t hash = size >= kStripe ? hash_stripes(bytes) : kPrime5;
  hash = with_rest(hash + size, bytes);
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

namespace {

// Reads logs in parallel on all available cores.

/// Shared by the threads: the next log and the first exception.
class Work {
 public:
  Work(const std::vector<std::filesystem::path>& paths,
       const std::function<void(std::size_t, const Log&)>& each)
      : paths_(paths), each_(each) {}

  void take_logs() {
    for (std::size_t index; (index = next_++) < paths_.size();) {
      try {
        each_(index, read_log(paths_[index]));
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (first_ == nullptr) first_ = std::current_exception();
        next_ = paths_.size();
      }
    }
  }

  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  const std::vector<std::filesystem::path>& paths_;
  const std::function<void(std::size_t, const Log&)>& each_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

void read_logs(const std::vector<std::filesystem::path>& paths,
               const std::function<void(std::size_t, const Log&)>& each) {
  Work work(paths, each);
  const std::size_t cores =
      std::max(1U, std::thread::hardware_concurrency());  // respects the CPU affinity
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(cores, paths.size()); ++i)
      others.emplace_back([&work] { work.take_logs(); });
    work.take_logs();
  }
  work.rethrow();
}

namespace {

Log log_of(FileBytes bytes, std::filesystem::path path) {
  Log log{.path = std::move(path), .content = std::move(bytes.owner)};
  log.bytes = static_cast<std::int64_t>(bytes.text.size());
  log.digest = digest_of(bytes.text);
  constexpr std::size_t kUsual = 128;  // entries
  log.entries.reserve(kUsual);
  LineWalk walk(bytes.text);
  LineReader lines(log);
  for (TokenLine at; walk.next(at);) lines.add(at.text, at.line, at.column);
  log.lines = walk.lines();
  return log;
}

}  // namespace

bool left_out_key(std::string_view key) { return key == "tracked_stats"; }

Log read_log(const std::filesystem::path& path) { return log_of(bytes_of_file(path), path); }

Log read_log_text(std::string_view text, std::string name) {
  return log_of(owned(std::string(text)), std::move(name));
}

const LogEntry* first_entry(const Log& log, std::string_view key) {
  const auto found = std::ranges::find(log.entries, key, &LogEntry::key);
  return found == log.entries.end() ? nullptr : &*found;
}

const LogEntry* last_entry(const Log& log, std::string_view key) {
  const auto found = std::find_if(log.entries.rbegin(), log.entries.rend(),
                                  [&](const LogEntry& entry) { return entry.key == key; });
  return found == log.entries.rend() ? nullptr : &*found;
}

}  // namespace bench::mlperf
