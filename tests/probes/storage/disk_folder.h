// A folder for tests on a disk where there is one: /tmp may be memory, which has no page cache to
// evict from.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "probes/storage/file_system_facts.h"

namespace bench::storage {

class DiskFolder {
 public:
  DiskFolder() {
    std::string name = "/var/tmp/bench-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed for " + name);
    path_ = name;
  }
  ~DiskFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  DiskFolder(const DiskFolder&) = delete;
  DiskFolder& operator=(const DiskFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool in_memory() const { return file_system_of(path_).memory; }

 private:
  std::filesystem::path path_;
};

}  // namespace bench::storage
