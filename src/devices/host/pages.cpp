#include "devices/host/pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/system_files.h"
#include "core/text.h"

namespace bench {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// A plain system call, to avoid depending on libnuma. MPOL_BIND: this node only.
void bind_to(void* data, std::size_t bytes, int node) {
  constexpr int kBind = 2;
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  const auto bit = static_cast<std::size_t>(node);
  std::vector<unsigned long> mask(bit / kBits + 1, 0);
  mask[bit / kBits] = 1UL << (bit % kBits);
  if (syscall(SYS_mbind, data, bytes, kBind, mask.data(), mask.size() * kBits + 1, 0) != 0)
    throw_errno("bind memory to NUMA node " + std::to_string(node),
                "check that the cpuset allows that node (Mems_allowed in /proc/self/status)");
}

}  // namespace

PageMapping::PageMapping(std::size_t bytes, Pages pages, std::optional<int> node) {
  const std::size_t guard = page_bytes();
  const std::size_t alignment = std::max(guard, huge_page_bytes());
  bytes_ = round_up(bytes, pages == Pages::huge ? alignment : guard);
  reserved_bytes_ = bytes_ + alignment + 2 * guard;
  reserved_ = mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved_ == MAP_FAILED)
    throw_errno("reserve " + format(Bytes{static_cast<double>(bytes_)}), "reduce max_bytes");
  const auto start = reinterpret_cast<std::uintptr_t>(reserved_) + guard;
  data_ = reinterpret_cast<std::byte*>(round_up(start, alignment));
  try {
    if (mprotect(data_, bytes_, PROT_READ | PROT_WRITE) != 0)
      throw_errno("allocate " + format(Bytes{static_cast<double>(bytes_)}), "reduce max_bytes");
    // Fails without transparent huge pages, which huge_share() then shows.
    madvise(data_, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (node) bind_to(data_, bytes_, *node);
  } catch (const Error&) {
    munmap(reserved_, reserved_bytes_);
    throw;
  }
}

PageMapping::~PageMapping() { munmap(reserved_, reserved_bytes_); }

double PageMapping::huge_share(std::size_t used) const {
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  return std::min(1.0, huge_bytes(smaps, begin, begin + bytes_) / static_cast<double>(used));
}

std::size_t huge_page_bytes() {
  const auto bytes = static_cast<std::size_t>(
      SystemFiles().number("sys/kernel/mm/transparent_hugepage/hpage_pmd_size").value_or(0));
  return std::has_single_bit(bytes) ? bytes : std::size_t{2} << 20;
}

std::string no_huge_pages(const std::filesystem::path& root) {
  const std::string name = "sys/kernel/mm/transparent_hugepage/enabled";
  const auto text = SystemFiles(root).text(name);
  if (!text) return "the kernel has no transparent huge pages (no /" + name + ")";
  if (text->find("[never]") == std::string::npos) return "";
  return "transparent huge pages are disabled (/" + name + ": " + printable(*text) + ")";
}

double huge_bytes(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end) {
  double bytes = 0.0;
  bool inside = false;
  std::string line;
  while (std::getline(smaps, line)) {
    const char* last = line.data() + line.size();
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    const auto first = std::from_chars(line.data(), last, from, 16);
    if (first.ec == std::errc{} && first.ptr < last && *first.ptr == '-' &&
        std::from_chars(first.ptr + 1, last, to, 16).ec == std::errc{})
      inside = from >= begin && to <= end;
    std::istringstream words(line);
    std::string key;
    double kilobytes = 0.0;
    if (inside && words >> key >> kilobytes && key == "AnonHugePages:") bytes += kilobytes * 1024;
  }
  return bytes;
}

}  // namespace bench
