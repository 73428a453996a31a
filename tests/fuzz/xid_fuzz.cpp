// Hostile lines of the kernel log: no Xid, or one with an address, a number and a short text.
#include <algorithm>
#include <cstdint>

#include "devices/nvml/gpu_monitor.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using bench::fuzz::demand;
  const auto xid = bench::nvml::parse_xid({reinterpret_cast<const char*>(data), size});
  if (!xid) return 0;
  const auto of_address = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':';
  };
  demand(xid->pci_address.size() >= 10 && std::ranges::all_of(xid->pci_address, of_address),
         "an address that is none: " + xid->pci_address);
  demand(xid->number >= 1 && xid->number <= 9999, "a number that is none");
  demand(xid->text.size() <= 200, "a long text");
  const bench::DeviceFault fault = bench::nvml::describe_xid(xid->number, xid->text);
  demand(fault.code == static_cast<int>(xid->number), "another number");
  return 0;
}
