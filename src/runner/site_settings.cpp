#include "runner/site_settings.h"

#include "core/error.h"
#include "core/json.h"
#include "core/locations.h"
#include "core/schema.h"
#include "runner/user_folders.h"

namespace bench {
namespace fs = std::filesystem;
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

std::vector<fs::path> site_files() {
  if (const std::string only = environment_variable("BENCHCTL_SITE"); !only.empty()) {
    if (!fs::exists(only))
      throw Error(ErrorKind::environment, "$BENCHCTL_SITE names " + only + ", which does not exist",
                  "unset it, or name a file in the format of schemas/site.json");
    return {only};
  }
  std::vector<fs::path> files = {"/etc/benchctl/site.json"};
  if (const fs::path config = user_folder("XDG_CONFIG_HOME", ".config"); !config.empty())
    files.push_back(config / "benchctl" / "site.json");
  return files;
}

SiteSettings site_settings() { return read_site_settings(site_files()); }

}  // namespace bench
