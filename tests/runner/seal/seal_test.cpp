#include "runner/seal/seal.h"

#include <cstdlib>
#include <fstream>

#include "core/error.h"
#include "core/whole_file.h"
#include "runner/launch/program_output.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct Certificates {
  TemporaryDirectory parent;
  fs::path folder = parent.path() / "certificates";
  WrittenFolder written{folder, {"index.html", "node01.html"}};

  Certificates() {
    for (const std::string& name : written.names) write_file(folder / name, "of " + name);
  }
  SealReport check(const std::string& signers = "") const { return check_seal(folder, signers); }
};

std::string refusal(std::string_view sums) try {
  sums_from_text(sums, "SHA256SUMS");
  return "";
} catch (const Error& error) {
  return error.what();
}

const std::string kDigest(64, 'a');

}  // namespace

TEST_CASE("a sealed folder is intact, and sha256sum agrees") {
  const Certificates here;
  seal(here.written, "");
  const SealReport report = here.check();
  CHECK(report.intact());
  CHECK(report.files == 2);
  CHECK(report.signature == Signature::none);
  CHECK(std::system(("cd '" + here.folder.string() + "' && sha256sum --check --quiet SHA256SUMS")
                        .c_str()) == 0);
}

TEST_CASE("changed, missing and added files of a sealed folder are named") {
  const Certificates here;
  seal(here.written, "");
  write_file(here.folder / "node01.html", "PASS");
  fs::remove(here.folder / "index.html");
  write_file(here.folder / "more" / "node02.html", "PASS");
  fs::create_symlink("/etc/hostname", here.folder / "link.html");
  const SealReport report = here.check();
  CHECK_FALSE(report.intact());
  CHECK(report.changed == std::vector<std::string>{"node01.html"});
  CHECK(report.missing == std::vector<std::string>{"index.html"});
  CHECK(report.unlisted == std::vector<std::string>{"link.html", "more/node02.html"});
}

TEST_CASE("a file that became a link to an equal one counts as changed") {
  const Certificates here;
  seal(here.written, "");
  fs::rename(here.folder / "index.html", here.parent.path() / "index.html");
  fs::create_symlink("../index.html", here.folder / "index.html");
  CHECK(here.check().changed == std::vector<std::string>{"index.html"});
}

TEST_CASE("a folder without SHA256SUMS is refused, saying what to name") {
  const Certificates here;
  CHECK_THROWS_WITH(here.check(), Contains("no SHA256SUMS"));
}

TEST_CASE("lines that sha256sum would not write are refused with their number") {
  CHECK(refusal(kDigest + "  a\n" + kDigest + " *b") == "");
  CHECK_THAT(refusal(kDigest + "  a\nx\n"), Contains("SHA256SUMS:2: not a line of sha256sum: 'x'"));
  CHECK_THAT(refusal(std::string(64, 'A') + "  a\n"), Contains("not a line"));
  for (const char* name : {"../a", "/etc/passwd", "a/../b", "./a", "a\033[31m", "a/"})
    CHECK_THAT(refusal(kDigest + "  " + name + "\n"), Contains("is not below the folder"));
}

TEST_CASE("a signature is trusted only with its signer's key and unchanged sums") {
  if (std::system("command -v ssh-keygen >/dev/null") != 0) {
    WARN("skipped: ssh-keygen is not installed");
    return;
  }
  const Certificates here;
  const auto key = [&](const std::string& name) {
    const std::string file = (here.parent.path() / name).string();
    program_output({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file},
                   Seconds{30.0});
    return file;
  };
  const auto signers = [&](const std::string& of) {
    const std::string file =
        (here.parent.path() / ("signers_" + fs::path(of).filename().string())).string();
    std::ifstream pub(of + ".pub");
    std::ofstream(file) << "alice@lab " << pub.rdbuf();
    return file;
  };
  const std::string mine = key("mine");
  seal(here.written, mine);
  seal(here.written, mine);  // again: no question about the older signature

  SealReport report = here.check();
  CHECK(report.signature == Signature::not_checked);
  CHECK_THAT(report.signer, Catch::Matchers::StartsWith("SHA256:"));

  report = here.check(signers(mine));
  CHECK(report.signature == Signature::trusted);
  CHECK(report.signer == "alice@lab");

  report = here.check(signers(key("other")));
  CHECK(report.signature == Signature::wrong);
  CHECK_THAT(report.trouble, Contains("is not in"));

  // Files and sums changed alike: the signature is of other sums.
  write_file(here.folder / "index.html", "PASS");
  const std::string signature = read_file(here.folder / kSignatureName);
  seal(here.written, "");
  CHECK(here.check(signers(mine)).signature == Signature::none);
  write_file(here.folder / kSignatureName, signature);
  report = here.check(signers(mine));
  CHECK(report.intact());
  CHECK(report.signature == Signature::wrong);
  CHECK_THAT(report.trouble, Contains("incorrect signature"));

  CHECK_THROWS_WITH(seal(here.written, "/no/such/key"), Contains("cannot sign with /no/such/key"));
}
