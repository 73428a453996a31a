#include "runner/dispatch/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/private_folder.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "runner/hosts/inventory.h"

namespace bench {

Spool::Spool(const std::filesystem::path& path) : Spool(path, O_CREAT | O_EXCL) {
  sync_folder(path.parent_path());  // else its name may be lost in a power cut, and all records
}

Spool Spool::append_to(const std::filesystem::path& path) { return Spool(path, 0); }

Spool::Spool(const std::filesystem::path& path, int flags)
    : path_(path),
      file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0644)),
      synced_(std::chrono::steady_clock::now()) {
  if (!file_.valid()) throw_errno("open the spool " + path.string());
  // Some network file systems have no locks; the user must then avoid a second writer.
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ErrorKind::environment,
                path.string() + ": another benchctl process is writing this run",
                "wait for it to end");
}

void Spool::complete_last_line() {
  const std::string records = read_file(path_);
  if (!is_torn(records)) return;
  const std::size_t begin = records.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const bool whole = try_parse_json(std::string_view(records).substr(begin)).has_value();
  if (whole ? !write_all(file_.get(), "\n")
            : ftruncate(file_.get(), static_cast<off_t>(begin)) != 0)
    throw_errno("write to " + path_.string());
}

void Spool::append(const std::string& json) {
  const off_t whole = lseek(file_.get(), 0, SEEK_END);
  const std::string line = json + '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = write(file_.get(), line.data() + done, line.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      const int reason = errno;
      if (done > 0 && ftruncate(file_.get(), whole) != 0)
        synced_ = {};  // readers skip a torn last line
      errno = reason;
      throw_errno("write a record to " + path_.string(),
                  "the run was stopped and its records so far are kept; free disk space, then run "
                  "benchctl resume " +
                      path_.parent_path().filename().string());
    }
  }
  unsynced_ = true;
}

void Spool::append(const Record& record) { append(dump(to_json(record))); }

void Spool::sync_now_and_then() {
  if (unsynced_ && std::chrono::steady_clock::now() - synced_ >= std::chrono::seconds(1)) sync();
}

void Spool::sync() {
  if (fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS)
    throw_errno("flush " + path_.string(),
                "recent records may be lost if the machine crashes; check the disk, then run "
                "benchctl resume " +
                    path_.parent_path().filename().string());
  unsynced_ = false;
  synced_ = std::chrono::steady_clock::now();
}

Record own_record(const std::string& job, decltype(Record::body) body) {
  return {job, this_host_name(), -1, now_ns(), std::move(body)};
}

namespace fs = std::filesystem;
namespace {

constexpr const char* kElsewhere = "choose another location with --db FILE or $BENCHCTL_DB";

void check_made(const fs::path& path, const std::error_code& failure) {
  if (!failure) return;
  throw Error(ErrorKind::environment,
              "cannot create folder " + path.string() + ": " + failure.message(), kElsewhere);
}

void make_folder(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  check_made(path, failure);
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& runs, const std::string& suite,
                                  std::int64_t time_ns) {
  std::error_code failure;
  make_user_folders(runs, failure);
  check_made(runs, failure);
  std::random_device random;
  RunDirectory run;
  for (int tries = 0;; ++tries) {
    run.id_ = fmt::format("{}-{}-{:04x}", compact_time(time_ns), suite, random() & 0xffff);
    run.path_ = runs / run.id_;
    if (mkdir(run.path_.c_str(), 0755) == 0) break;
    if (errno != EEXIST || tries > 100)
      throw_errno("create folder " + run.path_.string(), kElsewhere);
  }
  make_folder(run.path_ / "log");
  sync_folder(runs);
  return run;
}

RunDirectory RunDirectory::at(const fs::path& path) {
  RunDirectory run;
  run.path_ = path.has_filename() ? path : path.parent_path();
  run.id_ = run.path_.filename().string();
  make_folder(run.path_ / "log");
  return run;
}

int RunDirectory::logs() const {
  int count = 0;
  std::error_code none;
  for ([[maybe_unused]] const auto& file : fs::directory_iterator(path_ / "log", none)) ++count;
  return count;
}

fs::path RunDirectory::log_path(int launch) const {
  return path_ / "log" / fmt::format("{:02}.txt", launch);
}

void RunDirectory::write_plan(const std::string& text) const {
  try {
    replace_file(path_ / "plan.json", text);
  } catch (const Error& error) {
    throw Error(error.kind(), error.what(), kElsewhere);
  }
}

}  // namespace bench
