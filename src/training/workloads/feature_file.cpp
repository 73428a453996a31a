#include "training/workloads/feature_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/private_folder.h"
#include "core/time.h"
#include "training/checkpoint/atomic_file.h"
#include "training/engine/content_hash.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

static_assert(std::endian::native == std::endian::little, "features are written as they are");

constexpr std::string_view kFeatureMagic = "BENCHFTR";
constexpr std::uint32_t kFeatureVersion = 1;
constexpr std::uint64_t kFeatureFront = 32;  // bytes before the rows
constexpr std::uint64_t kBlockBytes = 256 * 1024;
constexpr std::uint64_t kBlocksAtOnce = 64;  // generated before they are written
constexpr const char* kRemove = "remove it: it is generated again";

using Front = std::array<std::byte, kFeatureFront>;

Front front_of(const FeatureTable& table) {
  Front front = {};
  std::memcpy(front.data(), kFeatureMagic.data(), kFeatureMagic.size());
  std::memcpy(front.data() + 8, &kFeatureVersion, 4);
  std::memcpy(front.data() + 12, &table.columns, 4);
  std::memcpy(front.data() + 16, &table.rows, 8);
  std::memcpy(front.data() + 24, &table.identity, 8);
  return front;
}

std::uint64_t block_count(const FeatureTable& table) {
  return (table.rows + block_rows(table) - 1) / block_rows(table);
}

/// Rows of the block.
std::uint64_t rows_in(const FeatureTable& table, std::uint64_t block) {
  return std::min(block_rows(table), table.rows - block * block_rows(table));
}

std::uint64_t end_hash(std::span<const std::byte> front, std::span<const std::byte> hashes) {
  std::vector<std::byte> all(front.begin(), front.end());
  all.insert(all.end(), hashes.begin(), hashes.end());
  return content_hash(all);
}

void generate(const std::filesystem::path& path, const FeatureTable& table) {
  // Hosts whose locks do not reach each other may generate at once: each writes a file of its own.
  AtomicFile file(path, {}, fmt::format(".{}-{}{}", ::getpid(), now_ns(), AtomicFile::kUnfinished));
  const Front front = front_of(table);
  file.write(front);
  std::vector<std::uint64_t> hashes(block_count(table));
  const std::uint64_t each = block_rows(table);
  std::vector<float> rows;
  for (std::uint64_t first = 0; first < hashes.size(); first += kBlocksAtOnce) {
    const std::uint64_t blocks = std::min<std::uint64_t>(kBlocksAtOnce, hashes.size() - first);
    const std::uint64_t count = std::min(blocks * each, table.rows - first * each);
    rows.resize(count * table.columns);
    in_parts(blocks, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t block = from; block < to; ++block) {
        const std::uint64_t begin = block * each, of_block = rows_in(table, first + block);
        for (std::uint64_t row = begin; row < begin + of_block; ++row)
          table.make(first * each + row,
                     std::span(rows).subspan(row * table.columns, table.columns));
        hashes[first + block] = content_hash(std::as_bytes(
            std::span(rows).subspan(begin * table.columns, of_block * table.columns)));
      }
    });
    file.write(std::as_bytes(std::span(rows)));
  }
  const auto bytes = std::as_bytes(std::span(hashes));
  file.write(bytes);
  const std::uint64_t end = end_hash(front, bytes);
  file.write(std::as_bytes(std::span(&end, 1)));
  file.commit();
}

void verify(const MappedFile& file, const FeatureTable& table) {
  const std::uint64_t rows_bytes = table.rows * table.row_bytes();
  const std::uint64_t hash_bytes = block_count(table) * sizeof(std::uint64_t);
  const std::uint64_t expected = kFeatureFront + rows_bytes + hash_bytes + sizeof(std::uint64_t);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::input, file.path() + ": " + what, kRemove);
  };
  if (file.bytes().size() != expected)
    refuse(
        fmt::format("{} bytes of features, but {} were expected", file.bytes().size(), expected));
  const ByteReader reader(file.bytes(), file.path());
  const Front front = front_of(table);
  const auto found = reader.slice(0, kFeatureFront);
  if (!std::ranges::equal(found, front)) refuse("other features, or a damaged header");
  const auto hashes = reader.slice(kFeatureFront + rows_bytes, hash_bytes);
  if (reader.number<std::uint64_t>(expected - sizeof(std::uint64_t)) != end_hash(found, hashes))
    refuse("the hashes of its blocks are damaged");
  in_parts(block_count(table), 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t block = from; block < to; ++block) {
      const std::uint64_t offset = kFeatureFront + block * block_rows(table) * table.row_bytes();
      const auto part = reader.slice(offset, rows_in(table, block) * table.row_bytes());
      if (content_hash(part) != little_endian<std::uint64_t>(hashes.data() + block * 8))
        refuse(fmt::format("{} bytes at offset {} are damaged", part.size(), offset));
    }
  });
}

/// The hashes say that the file is as it was written, these rows that this version writes the same.
void compare_rows(const MappedFile& file, const FeatureTable& table) {
  const std::uint64_t count = std::min(kComparedRows, table.rows);
  std::vector<float> made(table.columns);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t row = count < 2 ? 0 : i * (table.rows - 1) / (count - 1);
    table.make(row, made);
    const auto found =
        file.bytes().subspan(kFeatureFront + row * table.row_bytes(), table.row_bytes());
    if (!std::ranges::equal(found, std::as_bytes(std::span(made))))
      throw Error(ErrorKind::input,
                  fmt::format("{}: row {} is not what this version generates", file.path(), row),
                  kRemove);
  }
}

/// Held until the end of the scope by one process, so that others do not generate the same file. It
/// only saves them work: where files cannot be locked, each generates one.
Descriptor locked(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return file;  // generating says what is wrong with the folder
  while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return file;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code failed;
  const bool there = std::filesystem::exists(path, failed);
  if (failed) throw Error(ErrorKind::environment, path.string() + ": " + failed.message());
  return there;
}

void generate_once(const std::filesystem::path& path, const FeatureTable& table) {
  std::error_code failed;
  make_user_folders(path.parent_path(), failed);
  if (failed)
    throw Error(ErrorKind::environment, path.parent_path().string() + ": " + failed.message(),
                "choose another folder for features, by the parameter base_cache");
  const Descriptor lock = locked(path.string() + ".lock");
  if (!is_there(path)) generate(path, table);
}

/// A new folder in the user's temporary one; removed with what it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((private_temporary_folder() / "features-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw_errno("create " + path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::uint64_t block_rows(const FeatureTable& table) {
  return std::max<std::uint64_t>(1, kBlockBytes / table.row_bytes());
}

FeatureFile::FeatureFile(MappedFile file, const FeatureTable& table)
    : file_(std::move(file)),
      columns_(table.columns),
      features_(reinterpret_cast<const float*>(file_.bytes().data() + kFeatureFront)) {
  verify(file_, table);
  compare_rows(file_, table);
}

FeatureFile FeatureFile::open(const std::filesystem::path& cache, const std::string& name,
                              const FeatureTable& table) {
  if (cache.empty()) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / (name + ".features");
    generate(path, table);
    return {MappedFile(path), table};  // which keeps its bytes without a name
  }
  const std::filesystem::path path =
      cache / fmt::format("{}-{}.features", name, hash_text(table.identity));
  if (!is_there(path)) generate_once(path, table);
  return {MappedFile(path), table};  // without the lock: ranks verify it at the same time
}

}  // namespace bench::training
