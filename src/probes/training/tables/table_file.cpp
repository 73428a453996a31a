#include "probes/training/tables/table_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "probes/training/tables/rank_exchange.h"
#include "probes/training/tables/sparse_tables.h"

namespace bench::training {
namespace {

struct TableHeader {
  char magic[8] = {'B', 'E', 'N', 'C', 'H', 'T', 'A', 'B'};
  std::uint32_t version = 1;
  std::uint32_t table = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t unused[4] = {};
};
static_assert(sizeof(TableHeader) == 64);

class OpenTable {
 public:
  OpenTable(const std::filesystem::path& path, int flags)
      : path_(path.string()), file_(::open(path_.c_str(), flags | O_CLOEXEC, 0644)) {
    if (file_ < 0) fail("cannot be opened");
  }
  OpenTable(const OpenTable&) = delete;
  OpenTable& operator=(const OpenTable&) = delete;
  ~OpenTable() { ::close(file_); }

  void write(std::int64_t at, const void* data, std::int64_t bytes) {
    const auto* from = static_cast<const char*>(data);
    for (std::int64_t done = 0; done < bytes;) {
      const ssize_t n =
          ::pwrite(file_, from + done, static_cast<std::size_t>(bytes - done), at + done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("cannot be written");
      done += n;
    }
  }
  void read(std::int64_t at, void* data, std::int64_t bytes) {
    auto* to = static_cast<char*>(data);
    for (std::int64_t done = 0; done < bytes;) {
      const ssize_t n =
          ::pread(file_, to + done, static_cast<std::size_t>(bytes - done), at + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot be read");
      if (n == 0) refuse("ends early");
      done += n;
    }
  }
  std::int64_t bytes() {
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail("cannot be looked at");
    return status.st_size;
  }
  void flush() {
    if (::fsync(file_) != 0) fail("cannot be brought to disk");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, path_ + " " + why, "tables saved by a run of the same preset");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorKind::environment, path_ + " " + what + ": " + std::strerror(errno));
  }
  std::string path_;
  int file_;
};

constexpr std::int64_t kNumber = sizeof(float);

struct Places {
  Places(const TableRows& rows, std::int64_t table_rows)
      : values(sizeof(TableHeader) + rows.shard().first_row * rows.values().columns * kNumber),
        state(sizeof(TableHeader) + table_rows * rows.values().columns * kNumber +
              rows.shard().first_row * kNumber),
        end(sizeof(TableHeader) + table_rows * (rows.values().columns + 1) * kNumber) {}
  std::int64_t values, state, end;
};

TableHeader header_of(const TableRows& rows, std::int64_t table_rows) {
  TableHeader header;
  header.table = static_cast<std::uint32_t>(rows.shard().table);
  header.rows = table_rows;
  header.columns = rows.values().columns;
  return header;
}

}  // namespace

std::filesystem::path table_path(const std::filesystem::path& directory, int table) {
  return directory / fmt::format("table_{:03}.bin", table);
}

void write_rows(const std::filesystem::path& path, const TableRows& rows, std::int64_t table_rows) {
  OpenTable file(path, O_WRONLY | O_CREAT);
  const Places at(rows, table_rows);
  const TableHeader header = header_of(rows, table_rows);
  file.write(0, &header, sizeof header);
  file.write(at.values, rows.values().data, rows.values().elements() * kNumber);
  file.write(at.state, rows.state().data, rows.state().elements() * kNumber);
  file.flush();
}

void read_rows(const std::filesystem::path& path, TableRows& rows, std::int64_t table_rows) {
  OpenTable file(path, O_RDONLY);
  const Places at(rows, table_rows);
  const TableHeader wanted = header_of(rows, table_rows);
  TableHeader header;
  file.read(0, &header, sizeof header);
  if (std::memcmp(&header, &wanted, sizeof header) != 0)
    file.refuse(fmt::format("is not table {} of {} rows and {} columns", wanted.table, wanted.rows,
                            wanted.columns));
  if (file.bytes() != at.end)
    file.refuse(fmt::format("has {} bytes instead of {}", file.bytes(), at.end));
  file.read(at.values, rows.values().data, rows.values().elements() * kNumber);
  file.read(at.state, rows.state().data, rows.state().elements() * kNumber);
}

void SparseTables::save(const std::filesystem::path& directory) const {
  all_or_none(*group_, "saving the tables", [&] {
    for (const TableRows& rows : rows_) {
      const int table = rows.shard().table;
      write_rows(table_path(directory, table), rows, shapes_[static_cast<std::size_t>(table)].rows);
    }
  });
}

void SparseTables::load(const std::filesystem::path& directory) {
  all_or_none(*group_, "loading the tables", [&] {
    for (TableRows& rows : rows_) {
      const int table = rows.shard().table;
      read_rows(table_path(directory, table), rows, shapes_[static_cast<std::size_t>(table)].rows);
    }
  });
}

}  // namespace bench::training
