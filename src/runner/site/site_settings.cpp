#include "runner/site/site_settings.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/child_process.h"
#include "core/error.h"
#include "core/json.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/store/sqlite.h"

namespace bench {

FleetProfile read_fleet_profile(const std::string& path) {
  const Schema schema = Schema::load(schema_path("fleet_profile"));
  return fleet_profile_from(schema.check(read_json(path), path), path);
}

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr ? std::to_string(getuid()) : entry->pw_name;
}

namespace fs = std::filesystem;

namespace {

fs::path chosen_database(const std::string& option) {
  if (!option.empty()) return fs::absolute(option);
  if (const std::string set = environment_variable("BENCHCTL_DB"); !set.empty())
    return fs::absolute(set);
  if (const fs::path set = site_settings().database; !set.empty()) return set;
  const fs::path state = user_folder("XDG_STATE_HOME", ".local/state");
  if (state.empty())
    throw Error(ErrorKind::environment,
                "no database location: $BENCHCTL_DB and $HOME are unset, and site.json names none",
                "choose one with --db FILE");
  return state / "benchctl" / "results.sqlite";
}

}  // namespace

fs::path database_path(const std::string& option) {
  fs::path database = chosen_database(option);
  refuse_special_file(database);  // commands that read only the runs next to it never open it
  return database;
}

std::string open_folder_warning(const fs::path& database) {
  const fs::path folder = database.parent_path();
  const bool own = folder == user_folder("XDG_STATE_HOME", ".local/state") / "benchctl";
  struct stat status {};
  const mode_t unwanted = own ? 0077 : S_IWOTH;
  if (stat(folder.c_str(), &status) != 0 || (status.st_mode & unwanted) == 0) return "";
  return fmt::format(
      "other users can {} the results in {} (mode {:04o}); restrict it with `chmod {} {}`",
      (status.st_mode & 0022) != 0 ? "change" : "read", folder.string(), status.st_mode & 07777,
      own ? "700" : "o-w", folder.string());
}

fs::path runs_folder(const fs::path& database) { return database.parent_path() / "runs"; }

fs::path user_folder(const char* variable, const char* below_home) {
  if (fs::path named = environment_variable(variable); named.is_absolute()) return named;
  const fs::path home = environment_variable("HOME");
  return home.empty() ? fs::path() : home / below_home;
}

namespace {

void take_file(const fs::path& file, SiteSettings& settings) {
  static const Schema schema = Schema::load(schema_path("site"));
  const Json json = schema.check(read_json(file), file.string());
  if (json.contains("database")) settings.database = json["database"].get<std::string>();
  if (json.contains("launcher")) settings.launcher = json["launcher"].get<std::string>();
  if (!json.contains("prices")) return;
  for (const auto& [product, price] : json["prices"].items())
    settings.prices[product] = price.get<double>();
}

}  // namespace

SiteSettings read_site_settings(const std::vector<fs::path>& files) {
  SiteSettings settings;
  for (const fs::path& file : files) {
    std::error_code none;
    if (fs::exists(file, none)) take_file(file, settings);
  }
  return settings;
}

std::vector<fs::path> site_folders() {
  std::vector<fs::path> folders = {"/etc/benchctl"};
  if (const fs::path config = user_folder("XDG_CONFIG_HOME", ".config"); !config.empty())
    folders.push_back(config / "benchctl");
  return folders;
}

std::vector<fs::path> site_files() {
  if (const std::string only = environment_variable("BENCHCTL_SITE"); !only.empty()) {
    if (!fs::exists(only))
      throw Error(ErrorKind::environment, "$BENCHCTL_SITE names " + only + ", which does not exist",
                  "unset it, or name a file in the format of schemas/site.json");
    return {only};
  }
  std::vector<fs::path> files = site_folders();
  for (fs::path& file : files) file /= "site.json";
  return files;
}

SiteSettings site_settings() { return read_site_settings(site_files()); }

}  // namespace bench
