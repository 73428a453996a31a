// A secret of a suite reaches the command that needs it, and no file of the run.
#include "runner/launch/secrets.h"

#include <algorithm>
#include <cstdlib>

#include "core/whole_file.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const std::string kSecret = "hf_OnlyForRanks";

std::string secret_suite(const fs::path& folder) {
  const fs::path seen = folder / "seen";
  const Json one = {
      {"name", "a"},
      {"probe", "external"},
      {"env", {{"CASE_TOKEN", kSecret}}},
      {"params",
       {{"environment", {{"API_KEY", kSecret}}},
        {"argv", {"sh", "-c", "printf '%s %s' \"$CASE_TOKEN\" \"$API_KEY\" > " + seen.string()}}}}};
  write_file(folder / "suite.json", dump({{"suite", "secret"}, {"cases", {one}}}));
  return (folder / "suite.json").string();
}

/// The files below a folder that contain the text.
std::vector<std::string> files_with(const fs::path& folder, const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && read_file(entry.path()).find(text) != std::string::npos)
      found.push_back(entry.path().filename());
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("a secret reaches an external command, and is in no file of the run") {
  const BenchctlFolder benchctl;
  const std::string suite = secret_suite(benchctl.folder.path());
  const Answer plan = benchctl.run({"plan", suite, "--json"});
  CHECK_THAT(plan.out, !Contains(kSecret) && Contains(secret_hash(kSecret)));
  const Answer run = benchctl.run(
      {"run", suite, "--json", "--set", R"(a.environment={"API_KEY": ")" + kSecret + R"("})"});
  INFO(run.err);
  CHECK(read_file(benchctl.folder.path() / "seen") == kSecret + " " + kSecret);
  CHECK_THAT(run.out + run.err, !Contains(kSecret));
  CHECK(files_with(benchctl.folder.path(), kSecret) ==
        std::vector<std::string>{"seen", "suite.json"});
  CHECK_FALSE(files_with(benchctl.folder.path() / "runs", secret_hash(kSecret)).empty());
}

TEST_CASE("a run whose secret is not in the environment is not resumed with something else") {
  const BenchctlFolder benchctl;
  const std::string suite = secret_suite(benchctl.folder.path());
  benchctl.run({"run", suite});
  fs::remove(benchctl.folder.path() / "seen");
  write_file(benchctl.records(), "");
  const Answer refused = benchctl.run({"resume", "latest"});
  CHECK(refused.exit.code == 2);
  CHECK_THAT(refused.err, Contains("_TOKEN' is unknown") || Contains("API_KEY' is unknown"));
  CHECK_FALSE(fs::exists(benchctl.folder.path() / "seen"));
  setenv("ANY_TOKEN", kSecret.c_str(), 1);
  benchctl.run({"resume", "latest"});
  unsetenv("ANY_TOKEN");
  CHECK(read_file(benchctl.folder.path() / "seen") == kSecret + " " + kSecret);
}
