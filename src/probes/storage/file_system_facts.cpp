#include "probes/storage/file_system_facts.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "core/error.h"
#include "core/text.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {
namespace {

struct KnownType {
  std::uint32_t number;
  const char* name;
  bool memory = false;
  bool network = false;
};

// From linux/magic.h, and for file systems outside the kernel from their own sources.
constexpr std::array kTypes = {
    KnownType{0xef53, "ext4"},
    KnownType{0x58465342, "xfs"},
    KnownType{0x9123683e, "btrfs"},
    KnownType{0xf2f52010, "f2fs"},
    KnownType{0x2fc12fc1, "zfs"},
    KnownType{0x794c7630, "overlay"},
    KnownType{0x01021994, "tmpfs", true},
    KnownType{0x858458f6, "ramfs", true},
    KnownType{0x6969, "nfs", false, true},
    KnownType{0xff534d42, "cifs", false, true},
    KnownType{0xfe534d42, "smb2", false, true},
    KnownType{0x01021997, "9p", false, true},
    KnownType{0x00c36400, "ceph", false, true},
    KnownType{0x0bd00bd0, "lustre", false, true},
    KnownType{0x47504653, "gpfs", false, true},
    KnownType{0x19830326, "beegfs", false, true},
    KnownType{0x65735546, "fuse", false, true},
};

std::optional<double> memory_line(const SystemFiles& files, const char* key) {
  const auto text = files.text("proc/meminfo");
  if (!text) return {};
  const auto value = field(*text, key);
  if (!value) return {};
  const auto number = parse_number(std::string_view(*value).substr(0, value->find(' ')));
  if (!number) return {};
  return static_cast<double>(*number) * 1024.0;
}

}  // namespace

FileSystemFacts file_system_of(const std::filesystem::path& folder) {
  struct statfs system {};
  struct stat status {};
  if (::statfs(folder.c_str(), &system) != 0 || ::stat(folder.c_str(), &status) != 0)
    throw_errno("stat the folder " + folder.string());
  FileSystemFacts facts;
  const auto number = static_cast<std::uint32_t>(system.f_type);
  facts.type = fmt::format("{:#x}", number);
  for (const KnownType& known : kTypes)
    if (known.number == number) {
      facts.type = known.name;
      facts.memory = known.memory;
      facts.network = known.network;
    }
  facts.free_bytes =
      static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  // Major number 0: a file system without a device.
  if (major(status.st_dev) != 0)
    facts.device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  return facts;
}

Json to_json(const FileSystemFacts& facts) {
  return {{"type", facts.type},
          {"free_bytes", facts.free_bytes},
          {"device", facts.device.empty() ? Json(nullptr) : Json(facts.device)},
          {"memory", facts.memory},
          {"network", facts.network}};
}

std::optional<DeviceTraffic> traffic_of(const FileSystemFacts& facts, const SystemFiles& files) {
  constexpr double kSector = 512.0;  // independent of the device: Documentation/block/stat.rst
  if (facts.device.empty()) return {};
  const auto text = files.text("sys/dev/block/" + facts.device + "/stat");
  if (!text) return {};
  std::istringstream words(*text);
  std::array<double, 7> numbers{};
  for (double& number : numbers)
    if (!(words >> number)) return {};
  return DeviceTraffic{numbers[2] * kSector, numbers[6] * kSector};
}

std::optional<double> available_memory(const SystemFiles& files) {
  return memory_line(files, "MemAvailable");
}

std::optional<double> total_memory(const SystemFiles& files) {
  return memory_line(files, "MemTotal");
}

std::optional<bool> stores_zeros_in_no_space(const std::filesystem::path& folder) try {
  const std::filesystem::path path = folder / fmt::format("zeros-{}", ::getpid());
  const AlignedBuffer zeros(1u << 20);
  struct stat status {};
  {
    StorageFile file(path, Access::buffered, OpenFor::writing_anew);
    file.write(zeros.all(), 0);
    file.sync();
    if (::fstat(file.descriptor(), &status) != 0) status.st_blocks = -1;
  }
  ::unlink(path.c_str());
  if (status.st_blocks < 0) return {};
  return static_cast<double>(status.st_blocks) * 512.0 <
         static_cast<double>(zeros.all().size()) / 2;
} catch (const Error&) {
  return {};
}

}  // namespace bench::storage
