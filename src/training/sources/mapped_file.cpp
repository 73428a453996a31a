#include "training/sources/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "core/descriptor.h"
#include "core/error.h"

namespace bench::training {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path.string()) {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) throw_errno("open " + path_);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("stat " + path_);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::input, path_ + " is not a regular file",
                "name a file, not a folder or pipe");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // empty files cannot be mapped
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) throw_errno("map " + path_ + " into memory");
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace bench::training
