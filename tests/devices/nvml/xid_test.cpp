#include <random>

#include "devices/nvml/gpu_monitor.h"
#include "tests/support/catch.h"

namespace bench::nvml {
namespace {

TEST_CASE("lines of old and new drivers are understood") {
  const auto now = parse_xid(
      "3,1042,88123456,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has "
      "fallen off the bus.\n");
  REQUIRE(now);
  CHECK(now->pci_address == "0000:3b:00");
  CHECK(now->number == 79);
  CHECK(now->text == "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
  CHECK(parse_xid("NVRM: Xid (0000:03:00): 13, 0001 00000000")->number == 13);
  CHECK(parse_xid("NVRM: Xid (PCI:0001:AF:00 GPU-I:01): 94, x")->pci_address == "0001:af:00");
  CHECK(parse_xid("NVRM: Xid (PCI:00000000:C1:00): 45")->pci_address == "00000000:c1:00");
}

TEST_CASE("what is no Xid is none") {
  for (const char* line :
       {"", "NVRM: Xid", "NVRM: Xid (", "NVRM: Xid ()", "NVRM: Xid (): 79, x",
        "NVRM: Xid (PCI:0000:3b:00) 79", "NVRM: Xid (PCI:0000:3b:00): , x",
        "NVRM: Xid (PCI:0000:3b:00): seventy, x", "NVRM: Xid (PCI:0000:3b:00): 0, x",
        "NVRM: Xid (PCI:0000:3b:00): 99999999999999999999, x", "NVRM: Xid (PCI:00:3b): 79, x",
        "NVRM: Xid (PCI:0000:zz:00): 79, x", "NVRM: GPU at PCI:0000:3b:00: GPU-1234",
        "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32"}) {
    INFO(line);
    CHECK_FALSE(parse_xid(line));
  }
}

TEST_CASE("no damage to a line does harm") {
  const std::string whole = "3,1,2,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off\n";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    parse_xid(whole.substr(0, cut));
    parse_xid(std::string_view(whole).substr(cut));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string line = whole;
    for (unsigned changes = random() % 6; changes > 0; --changes)
      line[random() % line.size()] = static_cast<char>(random() % 256);
    const auto xid = parse_xid(line);
    if (!xid) continue;
    CHECK(xid->number > 0);
    CHECK(xid->number <= 9999);
    CHECK(xid->pci_address.size() >= 10);
    CHECK(xid->text.size() <= 200);
  }
}

TEST_CASE("what the catalogue answers with a reset is fatal, a fault of a kernel is not") {
  for (const unsigned number : {46u, 48u, 62u, 64u, 74u, 79u, 94u, 95u, 119u, 120u, 140u, 158u})
    CHECK(describe_xid(number).fatal);
  for (const unsigned number : {13u, 31u, 43u, 45u, 63u, 92u, 121u, 154u, 777u})
    CHECK_FALSE(describe_xid(number).fatal);
  CHECK(describe_xid(79).text == "Xid 79: the GPU has fallen off the bus");
  CHECK(describe_xid(777).text == "Xid 777");
  CHECK(describe_xid(777, "something new").text == "Xid 777: something new");
}

}  // namespace
}  // namespace bench::nvml
