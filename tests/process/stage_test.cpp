// --stage without a network: a host is a folder for temporary files, and what reaches it is a
// program that hands its words to a shell, joined by blanks, as ssh does.
#include "runner/stage/stage.h"

#include <sys/stat.h>

#include <fstream>

#include "core/error.h"
#include "core/json.h"
#include "core/sha256.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"
#include "runner/plan/suite.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

void write_program(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all);
}

struct Hosts {
  TemporaryDirectory folder;
  fs::path bundle = folder.path() / "bundle.tar";
  fs::path temporary = folder.path() / "tmp";  // of every host
  std::string search = std::getenv("PATH");
  Interrupts interrupts;

  Hosts() {
    fs::create_directories(temporary);
    pack("#!/bin/sh\necho bench-rank 1.0\n");
  }
  void pack(const std::string& program) {
    write_program(folder.path() / "benchctl/bin/bench-rank", program);
    program_output({"tar", "-cf", bundle.string(), "-C", folder.path().string(), "benchctl"},
                   Seconds{10.0});
  }
  Reach reach() {
    const auto agent = folder.path() / "agent";
    write_program(agent, "#!/bin/sh\nexec env TMPDIR=" + temporary.string() + " PATH=" + search +
                             " HOME=/nonexistent /bin/sh -c \"$*\"\n");
    return {[agent](const Place&) { return std::vector<std::string>{agent.string()}; }, true};
  }
  std::vector<Place> places(int count) {
    std::vector<Place> list;
    for (int i = 1; i <= count; ++i)
      list.push_back({"n" + std::to_string(i), "n" + std::to_string(i), 1, 1, false});
    return list;
  }
  Staged stage(int count = 1, const std::string& program = "/nonexistent/bench-rank") {
    return bench::stage(bundle, places(count), reach(), program, "1.0", interrupts);
  }
  fs::path own() const { return temporary / ("benchctl-stage-" + std::to_string(geteuid())); }
  fs::path copy() const { return own() / sha256(read_file(bundle)); }
};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("quoted arguments survive a shell unchanged") {
  for (const std::string& word :
       {std::string("plain"), std::string(""), std::string("two words"), std::string("a'b''c"),
        std::string("$(touch /tmp/x) `id` $HOME"), std::string("; rm -rf /; #"),
        std::string("\"\\\n\t*?[a]~!{a,b}|&<>"), std::string("-n"), std::string("\xff\xc3")}) {
    const std::string line = "printf %s. " + shell_quoted(word) + " " + shell_quoted("end");
    CHECK(program_output({"sh", "-c", line}, Seconds{5.0}) == word + ".end.");
  }
  CHECK_THROWS_AS(shell_quoted(std::string("a\0b", 3)), Error);
}

TEST_CASE("the script has nothing in it that another login shell would read otherwise") {
  const std::string script = stage_command({}, false).at(2);
  CHECK(script.size() > 1000);
  CHECK(script.find_first_of("'\\\n!") == std::string::npos);
}

TEST_CASE("a program with a hostile path is asked for its version, and nothing else happens") {
  Hosts hosts;
  const auto trap = hosts.folder.path() / "trap";
  const auto program = hosts.folder.path() / ("it's $(touch " + trap.filename().string() + "); x");
  write_program(program, "#!/bin/sh\necho bench-rank 1.0\n");
  const Staged staged = hosts.stage(2, program.string());
  CHECK(staged.folder.empty());
  CHECK(staged.out.empty());
  CHECK_FALSE(fs::exists(trap));
  CHECK_FALSE(fs::exists("trap"));
}

TEST_CASE("a bundle is staged in a private folder named after its hash, and reused") {
  Hosts hosts;
  const Staged first = hosts.stage();
  CHECK(first.out.empty());
  CHECK(first.copied == std::vector<std::string>{"n1"});
  CHECK(first.folder == (hosts.copy() / "benchctl/bin").string());
  CHECK(program_output({first.folder + "/bench-rank"}, Seconds{5.0}) == "bench-rank 1.0\n");
  struct stat status {};
  REQUIRE(stat(hosts.own().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  CHECK(entries(hosts.own()) == 1);  // nothing is left of the way there
  const Staged second = hosts.stage();
  CHECK(second.copied.empty());
  CHECK(second.folder == first.folder);
  hosts.pack("#!/bin/sh\necho bench-rank 1.0 # another\n");
  CHECK(hosts.stage().copied.size() == 1);
  CHECK(entries(hosts.own()) == 2);
}

TEST_CASE("a damaged copy is detected and replaced") {
  Hosts hosts;
  const std::string program = hosts.stage().folder + "/bench-rank";
  std::ofstream(program, std::ios::app) << "# one more byte\n";
  CHECK(hosts.stage().copied == std::vector<std::string>{"n1"});
  CHECK(read_file(program).find("one more") == std::string::npos);
  fs::remove(program);
  CHECK(hosts.stage().copied == std::vector<std::string>{"n1"});
  CHECK(fs::exists(program));
}

TEST_CASE("hosts that share the folder do not spoil each other's copy") {
  Hosts hosts;
  const Staged staged = hosts.stage(8);
  CHECK(staged.out.empty());
  CHECK(entries(hosts.own()) == 1);
  CHECK(hosts.stage(8).copied.empty());
}

TEST_CASE("a folder that is a symbolic link or accessible to others is not used") {
  Hosts hosts;
  fs::create_directories(hosts.folder.path() / "elsewhere");
  fs::create_directory_symlink(hosts.folder.path() / "elsewhere", hosts.own());
  CHECK_THAT(hosts.stage().folder, !Contains(hosts.temporary.string()));
  CHECK(fs::is_empty(hosts.folder.path() / "elsewhere"));
  fs::remove(hosts.own());
  fs::create_directories(hosts.own());
  fs::permissions(hosts.own(), fs::perms::all);
  CHECK_THAT(hosts.stage().folder, !Contains(hosts.temporary.string()));
  CHECK(fs::is_empty(hosts.own()));
  unstage(hosts.places(1), hosts.reach(), hosts.interrupts);  // of /tmp
}

TEST_CASE("a host without sha256sum is excluded with the reason") {
  Hosts hosts;
  const auto bare = hosts.folder.path() / "path";
  fs::create_directories(bare);
  for (const char* tool : {"sh", "tar", "df", "id"})
    fs::create_symlink(find_program(tool), bare / tool);
  hosts.search = bare.string();
  const Staged staged = hosts.stage();
  CHECK(staged.folder.empty());
  CHECK_THAT(staged.out.at("n1"), Contains("sha256sum is missing"));
}

TEST_CASE("an invalid or damaged bundle excludes the host and leaves no files") {
  Hosts hosts;
  std::ofstream(hosts.bundle) << "no tar at all";
  CHECK_THAT(hosts.stage().out.at("n1"), Contains("cannot unpack the bundle"));
  CHECK(fs::is_empty(hosts.own()));
  const auto words =
      stage_command(stage_arguments(hosts.own().string(), std::string(64, 'a')), false);
  std::string line = "printf x | " + words[0] + " -c " + shell_quoted(words[2]);
  for (std::size_t i = 3; i < words.size(); ++i) line += " " + shell_quoted(words[i]);
  const std::string said = program_output({"sh", "-c", line + " || true"}, Seconds{10.0});
  CHECK_THAT(said, Contains("trouble the bundle arrived damaged: its SHA-256 is 2d711642"));
  CHECK(fs::is_empty(hosts.own()));
}

TEST_CASE("a folder name with shell metacharacters is not accepted from a host") {
  CHECK(is_plain_path("/tmp/a-b_c.d+e/1"));
  for (const char* path : {"tmp/x", "/tmp/a b", "/tmp/$(x)", "/tmp/a;b", "/tmp/a'b", "", "/tmp/\n"})
    CHECK_FALSE(is_plain_path(path));
  Hosts hosts;
  hosts.temporary = hosts.folder.path() / "two,words";
  fs::create_directories(hosts.temporary);
  CHECK_THAT(hosts.stage().folder, !Contains("two,words"));
  unstage(hosts.places(1), hosts.reach(), hosts.interrupts);
}

TEST_CASE("staged files are removed, and an unreachable host is reported with the reason") {
  Hosts hosts;
  hosts.stage();
  const auto answers = unstage(hosts.places(1), hosts.reach(), hosts.interrupts);
  CHECK_THAT(answers.at("n1"), Contains(hosts.own().string()));
  CHECK_FALSE(fs::exists(hosts.own()));
  write_program(
      hosts.folder.path() / "mute",
      "#!/bin/sh\necho 'ssh: connect to host n1 port 22: Connection refused' >&2\nexit 255\n");
  const auto mute = hosts.folder.path() / "mute";
  const Reach refused{[mute](const Place&) { return std::vector<std::string>{mute.string()}; },
                      true};
  CHECK_THAT(unstage(hosts.places(1), refused, hosts.interrupts).at("n1"),
             Contains("trouble") && Contains("Connection refused"));
  const Staged staged =
      bench::stage(hosts.bundle, hosts.places(1), refused, "/x", "1.0", hosts.interrupts);
  CHECK_THAT(staged.out.at("n1"), Contains("Connection refused"));
}
