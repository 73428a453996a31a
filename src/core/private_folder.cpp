#include "core/private_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/child_process.h"
#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::environment,
              "will not use the folder " + printable(path.string()) + ": " + reason,
              "remove it, or choose another folder with the case's parameter or $TMPDIR");
}

/// Creates it for this user only; what may be there instead is checked by the caller.
void make_folder_if_missing(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw_errno("create the folder " + path.string(),
                "choose another folder with the case's parameter or $TMPDIR");
}

/// Of the entry itself, not of what it links to.
struct stat real_folder(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) throw_errno("look at " + path.string());
  if (S_ISLNK(status.st_mode)) refuse(path, "it is a symbolic link");
  if (!S_ISDIR(status.st_mode)) refuse(path, "it is no folder");
  return status;
}

[[noreturn]] void refuse_owner(const fs::path& path, uid_t owner) {
  refuse(path, fmt::format("it belongs to another user (UID {})", owner));
}

/// Owner of what we create in a folder: a server may map root to nobody.
uid_t owner_there(const fs::path& folder) {
  std::string name = (folder / ".benchctl-XXXXXX").string();
  struct stat status {};
  if (mkdtemp(name.data()) == nullptr) throw_errno("create a folder in " + folder.string());
  const bool known = lstat(name.c_str(), &status) == 0;
  rmdir(name.c_str());
  return known ? status.st_uid : geteuid();
}

/// Without the sticky bit, others could rename a folder of ours away and put theirs in its place.
void check_base(const fs::path& base) {
  struct stat status {};
  if (stat(base.c_str(), &status) != 0) throw_errno("look at " + base.string());
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
    refuse(base, "it is writable by everybody and has no sticky bit");
}

}  // namespace

fs::path temporary_base() {
  const std::string folder = environment_variable("TMPDIR");
  return folder.starts_with('/') ? folder : "/tmp";
}

void make_private_folder(const fs::path& path) {
  check_base(path.parent_path());
  make_folder_if_missing(path);
  const struct stat status = real_folder(path);
  if (status.st_uid != geteuid()) refuse_owner(path, status.st_uid);
  if ((status.st_mode & 0077) != 0)
    refuse(path, fmt::format("others have access to it (mode {:04o})", status.st_mode & 07777));
}

fs::path private_temporary_folder() {
  const fs::path folder = temporary_base() / ("benchctl-" + std::to_string(geteuid()));
  make_private_folder(folder);
  return folder;
}

void make_user_folders(const fs::path& path, std::error_code& failure) {
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (folder.empty() || fs::is_directory(folder, failure)) return;
  failure.clear();
  if (folder.has_parent_path()) make_user_folders(folder.parent_path(), failure);
  if (failure || mkdir(folder.c_str(), 0700) == 0) return;
  const int reason = errno;
  if (reason != EEXIST || !fs::is_directory(folder, failure))
    failure.assign(reason, std::generic_category());
}

void make_own_folder(const fs::path& path) {
  make_folder_if_missing(path);
  const uid_t owner = real_folder(path).st_uid;
  if (owner != geteuid() && owner != owner_there(path.parent_path())) refuse_owner(path, owner);
}

}  // namespace bench
