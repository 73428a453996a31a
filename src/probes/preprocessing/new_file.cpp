#include "probes/preprocessing/new_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "core/whole_file.h"

namespace bench::preprocessing {
namespace {

constexpr std::size_t kWaitingBytes = 1u << 20;

}  // namespace

void refuse_existing(const std::filesystem::path& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) == 0)
    throw Error(ErrorKind::input, printable(path.string()) + ": file already exists",
                "name another folder as output, or remove the file");
}

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(path_.string() + ".XXXXXX") {
  std::error_code ignored;  // if the folder cannot be made, creating the file reports it
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  refuse_existing(path_);
  file_ = Descriptor(mkostemp(temporary_.data(), O_CLOEXEC));
  if (!file_.valid()) throw_errno("create a temporary file next to " + printable(path_.string()));
}

NewFile::~NewFile() {
  if (file_.valid()) unlink(temporary_.c_str());
}

void NewFile::write(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= kWaitingBytes) flush();
}

void NewFile::flush() {
  if (!write_all(file_.get(), waiting_)) throw_errno("write " + printable(path_.string()));
  waiting_.clear();
}

void NewFile::finish() {
  flush();
  if (fchmod(file_.get(), 0644) != 0 || fsync(file_.get()) != 0)
    throw_errno("write " + printable(path_.string()));
  // A link never replaces a file; some file systems have none.
  if (link(temporary_.c_str(), path_.c_str()) == 0) {
    unlink(temporary_.c_str());
  } else {
    const int reason = errno;
    refuse_existing(path_);
    errno = reason;
    if ((errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) ||
        std::rename(temporary_.c_str(), path_.c_str()) != 0)
      throw_errno("write " + printable(path_.string()));
  }
  file_.close();
  sync_folder(path_.parent_path());
}

}  // namespace bench::preprocessing
