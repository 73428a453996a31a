#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "devices/facts/host_facts.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

struct FakeAccess {
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  }
  Json read() const { return read_access_facts(SystemFiles(folder.path())); }
  TemporaryDirectory folder;
};

const std::string kBridge = "sys/bus/pci/devices/0000:00:01.0/";

TEST_CASE("readable sources are reported as readable, missing ones as none") {
  FakeAccess machine;
  const Json bare = machine.read();
  CHECK(bare.at("memory_errors") == "none");
  CHECK(bare.at("firmware_tables") == "none");
  CHECK(bare.at("pci_configuration") == "none");
  CHECK(bare.at("kernel_log").contains("unreadable"));
  machine.write("dev/kmsg", "6,1,2,-;hello\n");
  machine.write("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
  machine.write("sys/firmware/dmi/tables/DMI", "x");
  machine.write(kBridge + "class", "0x060400\n");
  machine.write(kBridge + "config", std::string(4096, '\1'));
  const Json whole = machine.read();
  for (const auto& [name, state] : whole.items()) {
    INFO(name);
    CHECK(state == "readable");
  }
}

TEST_CASE("a bridge that shows 64 bytes of its configuration needs rights") {
  FakeAccess machine;
  machine.write(kBridge + "class", "0x060400\n");
  machine.write(kBridge + "config", std::string(64, '\1'));
  CHECK(machine.read()
            .at("pci_configuration")
            .at("unreadable")
            .get<std::string>()
            .starts_with("no permission"));
}

TEST_CASE("a file that is there and does not open is unreadable, never none") {
  if (geteuid() == 0) return;  // root opens everything; the modes below say nothing to it
  FakeAccess machine;
  machine.write("dev/kmsg", "x");
  machine.write("sys/firmware/dmi/tables/DMI", "x");
  for (const char* path : {"dev/kmsg", "sys/firmware/dmi/tables/DMI"})
    std::filesystem::permissions(machine.folder.path() / path, std::filesystem::perms::none);
  const Json access = machine.read();
  CHECK(access.at("kernel_log").contains("unreadable"));
  CHECK(access.at("firmware_tables").contains("unreadable"));
}

}  // namespace
}  // namespace bench
