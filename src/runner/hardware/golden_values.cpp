#include "runner/hardware/golden_values.h"

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"
#include "core/whole_file.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

/// Keys that name a library's version, where that program's is known.
bool same_version(const Json& key, const Json& libraries) {
  const auto library = key.find("library");
  if (library == key.end() || !library->is_string() || !libraries.is_object()) return true;
  const auto known = libraries.find(library->get<std::string>());
  return known == libraries.end() || !known->is_string() || key.value("version", Json()) == *known;
}

bool same_seed(const Json& key, const Job& job) {
  return !key.contains("seed") || key["seed"] == Json(job.seed);
}

}  // namespace

GoldenValues GoldenValues::load(const std::vector<fs::path>& folders) {
  GoldenValues loaded;
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder)) continue;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) loaded.add(read_json(file), file.string());
  }
  return loaded;
}

GoldenValues GoldenValues::installed(const fs::path& database) {
  return load({data_root() / "hosts" / "golden", golden_folder(database)});
}

void GoldenValues::add(const Json& document, const std::string& source) {
  static const Schema schema = Schema::load(schema_path("golden"));
  const Json checked = schema.check(document, source);
  for (const Json& value : checked["values"])
    add({value["probe"], {value["key"], value["hash"], fs::path(source).filename().string()}});
}

void GoldenValues::add(Value value) {
  const auto same = std::ranges::find_if(values_, [&](const Value& known) {
    return known.probe == value.probe && known.result.key == value.result.key;
  });
  if (same == values_.end()) return values_.push_back(std::move(value));
  if (same->result.hash == value.result.hash) return;
  throw Error(ErrorKind::input,
              "contradicting golden values for one result: " + same->result.hash + " in " +
                  same->result.source + ", " + value.result.hash + " in " + value.result.source +
                  ", for " + dump(value.result.key),
              "remove the wrong one");
}

std::vector<KnownResult> GoldenValues::for_job(const Job& job, const Json& libraries) const {
  std::vector<KnownResult> fitting;
  for (const auto& [probe, result] : values_)
    if (probe == job.probe && same_seed(result.key, job) && same_version(result.key, libraries))
      fitting.push_back(result);
  return fitting;
}

fs::path keep_golden(const Json& document, const fs::path& database) {
  const fs::path folder = golden_folder(database);
  const fs::path path = folder / (document.at("run").get<std::string>() + ".json");
  GoldenValues known = GoldenValues::installed(database);
  known.add(document, path.string());
  fs::create_directories(folder);
  replace_file(path, document.dump(1) + "\n");
  return path;
}

fs::path golden_folder(const fs::path& database) { return database.parent_path() / "golden"; }

}  // namespace bench
