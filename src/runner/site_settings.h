// Settings of a site or user: database, launcher, prices (schemas/site.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/compare/prices.h"

namespace bench {

struct SiteSettings {
  std::filesystem::path database = {};  // "" where none is named
  std::string launcher = {};            // likewise
  Prices prices = {};
};

/// Of files in this order; keys of a later one count, of prices each product's. Files that do not
/// exist are passed over. Throws Error(input) naming file and place.
SiteSettings read_site_settings(const std::vector<std::filesystem::path>& files);

/// $BENCHCTL_SITE alone where it is set; else /etc/benchctl/site.json and
/// ${XDG_CONFIG_HOME:-~/.config}/benchctl/site.json.
std::vector<std::filesystem::path> site_files();

SiteSettings site_settings();

}  // namespace bench
