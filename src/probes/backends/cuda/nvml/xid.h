// NVIDIA's Xid: a number by which the driver says what went wrong on a GPU. Which ones spoil a
// measurement, and how the kernel's log spells them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "probes/device.h"

namespace bench::nvml {

/// In words, "Xid 79: the GPU has fallen off the bus"; `log_text` is what the kernel's log said alongside
/// the number, or "". Fatal: what "Analyzing Xid Errors with the Xid Catalog" (NVIDIA, 2026)
/// answers with a reset of the GPU or a reboot of the machine (but 155, which links that sleep on
/// purpose raise); 94, a memory error that ended with the application that met it: us; and 167,
/// 171, 172, which the catalogue leaves without an answer.
DeviceFault describe_xid(unsigned number, const std::string& log_text = {});

struct LoggedXid {
  std::string pci_address;  // "0000:3b:00", without the function, in small letters
  unsigned number = 0;
  std::string text;  // what follows the number
};

/// Of a line "... NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."; older
/// drivers leave "PCI:" away, and with MIG the parentheses hold more. Nothing for any other line.
std::optional<LoggedXid> parse_xid(std::string_view line);

}  // namespace bench::nvml
