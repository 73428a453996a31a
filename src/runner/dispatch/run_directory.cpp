#include "runner/dispatch/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

constexpr const char* kElsewhere = "choose another location with --db FILE or $BENCHCTL_DB";

void make_folder(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (!failure) return;
  throw Error(ErrorKind::environment,
              "cannot create folder " + path.string() + ": " + failure.message(), kElsewhere);
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& runs, const std::string& suite,
                                  std::int64_t time_ns) {
  make_folder(runs);
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
  const fs::path beside = path_ / "plan.json.tmp";
  Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid() || !write_all(file.get(), text) || fsync(file.get()) != 0 ||
      rename(beside.c_str(), (path_ / "plan.json").c_str()) != 0)
    throw_errno("write " + beside.string(), kElsewhere);
}

}  // namespace bench
