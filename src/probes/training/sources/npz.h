// A zip of arrays as numpy.savez and savez_compressed write it: members stored (used where they
// lie) or deflated (unpacked when read), zip64 too, since savez writes it for files beyond 4 GB.
// Encrypted members and archives of several disks are refused. (PKWARE's APPNOTE 6.3, sections 4.3
// and 4.5.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/training/sources/npy.h"

namespace bench::training {

class NpzFile {
 public:
  /// Reads the list of members. `bytes` are borrowed; `path` is for errors. Throws Error(input) for
  /// what is no zip, or has members that do not lie inside of it.
  NpzFile(std::span<const std::byte> bytes, const std::string& path);

  /// Of the members, without ".npy".
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  /// The array `name`. Its data lie in the file's bytes or, when they were deflated, in this
  /// object: they live as long as both. Throws Error(input) where there is no such member, or its
  /// method, size, checksum (CRC-32, over all of it) or array is wrong.
  NpyArray array(const std::string& name);

 private:
  struct Member {
    std::string name;
    std::uint16_t flags = 0, method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0, size = 0, header = 0;  // bytes; offset of its local header
  };
  const Member* find(const std::string& name) const;
  std::span<const std::byte> packed(const Member& member) const;

  std::span<const std::byte> bytes_;
  std::string path_;
  std::vector<Member> members_;
  std::vector<std::vector<std::byte>> unpacked_;
};

}  // namespace bench::training
