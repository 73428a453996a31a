#include "runner/site/site_settings.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "core/error.h"
#include "core/schema.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct SiteFolder {
  TemporaryDirectory folder;
  fs::path file(const std::string& name, const std::string& text) const {
    const fs::path path = folder.path() / name;
    std::ofstream(path) << text;
    return path;
  }
};

std::string site_refusal(const fs::path& file) try {
  read_site_settings({file});
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("a user's settings count before the site's, and the prices of both are known") {
  const SiteFolder here;
  const auto site = here.file("site", R"({"database": "/srv/b.sqlite", "launcher": "slurm",
                                          "prices": {"h100": 2.5, "h200": 3.4}})");
  const auto user = here.file("user", R"({"launcher": "mpirun", "prices": {"h100": 2.0}})");
  const SiteSettings both = read_site_settings({site, user});
  CHECK(both.database == "/srv/b.sqlite");
  CHECK(both.launcher == "mpirun");
  CHECK(both.prices == Prices{{"h100", 2.0}, {"h200", 3.4}});
  const SiteSettings none = read_site_settings({here.folder.path() / "missing"});
  CHECK((none.database.empty() && none.launcher.empty() && none.prices.empty()));
}

TEST_CASE("results that other users can read or change are reported") {
  const SiteFolder here;
  const fs::path state = here.folder.path() / "benchctl", shared = here.folder.path() / "shared";
  for (const fs::path& folder : {state, shared}) fs::create_directory(folder);
  const char* former = std::getenv("XDG_STATE_HOME");
  const std::string kept = former == nullptr ? "" : former;
  setenv("XDG_STATE_HOME", here.folder.path().c_str(), 1);
  const auto warning = [](const fs::path& folder, mode_t mode) {
    chmod(folder.c_str(), mode);
    return open_folder_warning(folder / "results.sqlite");
  };
  const std::string readable = warning(state, 0755), writable = warning(state, 0770);
  const std::string own = warning(state, 0700), group = warning(shared, 02775);
  const std::string everybody = warning(shared, 01777);
  former == nullptr ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", kept.c_str(), 1);
  CHECK_THAT(readable, Contains("can read") && Contains("mode 0755") && Contains("chmod 700"));
  CHECK_THAT(writable, Contains("can change") && Contains("mode 0770"));
  CHECK(own.empty());
  CHECK(group.empty());
  CHECK_THAT(everybody, Contains("can change") && Contains("chmod o-w"));
  CHECK(open_folder_warning(here.folder.path() / "missing" / "results.sqlite").empty());
}

TEST_CASE("settings that cannot be are refused with file, place and value") {
  const SiteFolder here;
  CHECK_THAT(site_refusal(here.file("a", R"({"price": {"h100": 2}})")),
             Contains("price") && Contains("Did you mean 'prices'"));
  CHECK_THAT(site_refusal(here.file("b", R"({"prices": {"h100": -2}})")),
             Contains("/prices/h100") && Contains("-2"));
  CHECK_THAT(site_refusal(here.file("c", R"({"database": "results.sqlite"})")),
             Contains("/database"));
  CHECK_THAT(site_refusal(here.file("d", R"({"launcher": "ssh"})")), Contains("ssh"));
  CHECK_THAT(site_refusal(here.file("e", "{")), Contains((here.folder.path() / "e").string()));
}

TEST_CASE("the example of a site's settings can be read") {
  const SiteSettings example = read_site_settings({"docs/examples/site.json"});
  CHECK(example.prices.size() >= 2);
  CHECK(example.launcher == "slurm");
}
