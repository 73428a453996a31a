#include "runner/acceptance/profiles.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"
#include "runner/launch/program_output.h"

namespace bench {
namespace {

constexpr Seconds kReads{60.0};  // for one saved topology

bool was_interrupted(const Record& record) {
  const auto* event = std::get_if<Event>(&record.body);
  return event != nullptr && event->key == kRunEndEvent && event->value.is_object() &&
         event->value.value("state", Json()) == "interrupted";
}

Host host_named(const std::string& name) {
  Host host;
  host.name = name;
  host.address = name;
  return host;
}

Json saved_facts(const std::string& file, const std::string& rank_program) {
  const std::string path = std::filesystem::absolute(file).string();
  try {
    return parse_json(program_output({rank_program, "--topology", path}, kReads), file);
  } catch (const Error& error) {
    if (!std::filesystem::exists(rank_program)) throw;
    throw Error(ErrorKind::input, file + " is not a readable topology: " + error.what(),
                "write one with `lstopo FILE.xml` (hwloc 2)");
  }
}

}  // namespace

ProbedHosts hosts_of_run(const std::filesystem::path& folder) {
  const RunRecords records = read_run(folder);
  ProbedHosts probed{topologies_of(records), {}, records.run, records.run};
  if (records.plan.contains("inventory"))
    probed.inventory = inventory_from_json(records.plan.at("inventory"), "plan.json");
  probed.interrupted = std::ranges::any_of(records.records, was_interrupted);
  if (probed.hosts.empty())
    throw Error(ErrorKind::input, "run " + records.run + " has no topology jobs",
                "probe hosts with `benchctl topology --hosts FILE`");
  return probed;
}

ProbedHosts saved_hosts(const std::vector<std::string>& files, const std::string& rank_program) {
  ProbedHosts probed;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (std::ranges::find(probed.hosts, name, &HostTopology::host) != probed.hosts.end())
      throw Error(ErrorKind::usage, "duplicate host name " + name + ": " + file,
                  "each file is named after its host; rename one");
    if (!std::filesystem::exists(file))
      throw Error(ErrorKind::input, file + ": no such file", "write one with `lstopo FILE.xml`");
    probed.hosts.push_back({name, shape_of(saved_facts(file, rank_program))});
    probed.inventory.hosts.push_back(host_named(name));
  }
  probed.source = join(files, ", ");
  return probed;
}

namespace fs = std::filesystem;
namespace {

std::vector<fs::path> folders(const fs::path& database) {
  return {database.parent_path() / "profiles", data_root() / "hosts" / "profiles"};
}

std::vector<std::string> known_profiles(const fs::path& database) {
  std::set<std::string> names;
  for (const fs::path& folder : folders(database)) {
    std::error_code missing;
    for (auto entry = fs::directory_iterator(folder, missing);
         !missing && entry != fs::directory_iterator(); entry.increment(missing))
      if (entry->path().extension() == ".json") names.insert(entry->path().stem().string());
  }
  return {names.begin(), names.end()};
}

/// link() fails if the name exists, so only one of two concurrent writers wins.
void put_in_place(const fs::path& temporary, const fs::path& file, bool force) {
  const int result =
      force ? rename(temporary.c_str(), file.c_str()) : link(temporary.c_str(), file.c_str());
  const int reason = errno;
  if (!force || result != 0) unlink(temporary.c_str());
  if (result == 0) return;
  errno = reason;
  if (reason == EEXIST)
    throw Error(ErrorKind::input, file.string() + ": already exists",
                "replace it with --force; manual edits are lost");
  throw_errno("write " + file.string());
}

}  // namespace

fs::path find_profile(const std::string& name, const fs::path& database) {
  if (is_path(name)) return name;
  for (const fs::path& folder : folders(database))
    if (fs::exists(folder / (name + ".json"))) return folder / (name + ".json");
  const auto known = known_profiles(database);
  throw Error(ErrorKind::input, "unknown profile '" + name + "'." + did_you_mean(name, known),
              known.empty()
                  ? "learn one from a good host with `benchctl topology --learn FILE --from HOST`"
                  : "profiles: " + join(known, ", "));
}

Profile profile_from_text(std::string_view text, const std::string& origin) {
  static const Schema schema = Schema::load(schema_path("profile"));
  return profile_from_json(schema.check(parse_json(text, origin), origin), origin);
}

Profile read_profile(const fs::path& file) {
  return profile_from_text(read_file(file), file.string());
}

std::map<std::string, Profile> profiles_of(const Inventory& inventory, const std::string& option,
                                           const fs::path& database) {
  std::map<std::string, Profile> read, profiles;  // by name; by host
  for (const Host& host : inventory.hosts) {
    const std::string& name = option.empty() ? host.profile : option;
    if (name.empty()) continue;
    if (!read.contains(name)) {
      const fs::path file = find_profile(name, database);
      read.emplace(name, read_profile(file)).first->second.name = file.stem().string();
    }
    profiles.emplace(host.name, read.at(name));
  }
  return profiles;
}

void write_profile(const fs::path& file, const Profile& profile, bool force) {
  const std::string text =
      to_json(profile).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  fs::path temporary = file;
  temporary += "." + std::to_string(getpid()) + ".new";
  {
    const Descriptor fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd.valid()) throw_errno("create " + temporary.string(), "check that its folder exists");
    try {
      if (!write_all(fd.get(), text) || fsync(fd.get()) != 0)
        throw_errno("write " + temporary.string());
    } catch (...) {
      unlink(temporary.c_str());
      throw;
    }
  }
  put_in_place(temporary, file, force);
}

}  // namespace bench
