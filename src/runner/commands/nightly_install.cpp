// benchctl nightly install: writes the files that schedule nightly runs.
#include <unistd.h>

#include <set>

#include "core/error.h"
#include "core/private_folder.h"
#include "core/whole_file.h"
#include "runner/commands/nightly_options.h"
#include "runner/nightly/install_text.h"
#include "runner/nightly/night_runs.h"
#include "runner/nightly/time_text.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

struct InstallOptions : NightOptions {
  std::string scheduler, at = "02:00", to;
};

/// Where systemd looks for units of root and of users.
fs::path unit_folder() {
  if (geteuid() == 0) return "/etc/systemd/system";
  const fs::path config = user_folder("XDG_CONFIG_HOME", ".config");
  if (config.empty())
    throw Error(ErrorKind::environment, "no folder for systemd units: $HOME is not set",
                "choose a folder with --to DIR");
  return config / "systemd" / "user";
}

fs::path folder_of(const InstallOptions& options, NightScheduler scheduler) {
  if (!options.to.empty()) return fs::absolute(options.to);
  return scheduler == NightScheduler::systemd ? unit_folder()
                                              : options.database().parent_path() / "nightly";
}

/// The database's folder with the runs, and those of the reports of a night.
std::vector<fs::path> written_by(const InstallOptions& options) {
  std::set<fs::path> folders = {fs::absolute(options.database()).parent_path()};
  for (const std::string& file :
       {options.pages.html, options.pages.markdown, options.junit, options.prometheus})
    if (!file.empty()) folders.insert(fs::absolute(file).parent_path());
  return {folders.begin(), folders.end()};
}

Json install_json(const InstallText& text) {
  Json files = Json::array();
  for (const InstallFile& file : text.files)
    files.push_back({{"path", file.path.string()}, {"text", file.text}});
  return {{"files", files}, {"begin", text.begin}, {"undo", text.undo}};
}

std::string install_summary(const InstallText& install) {
  std::string text;
  for (const InstallFile& file : install.files) text += "wrote " + file.path.string() + "\n";
  text += "\nto enable:\n";
  for (const std::string& command : install.begin) text += "  " + command + "\n";
  text += "\nto remove:\n";
  for (const std::string& command : install.undo) text += "  " + command + "\n";
  return text;
}

void install(const InstallOptions& options) {
  NightInstall night;
  night.scheduler = night_scheduler_from(options.scheduler);
  check_hooks(options.hooks);
  night.folder = folder_of(options, night.scheduler);
  night.command = night_command(options);
  night.at = time_of_day_from(options.at, "--at");
  night.budget = seconds_from(options.budget.empty() ? "30m" : options.budget, "--budget");
  night.for_user = geteuid() != 0;
  night.elsewhere = !options.to.empty() && night.scheduler == NightScheduler::systemd &&
                    night.folder.lexically_normal() != unit_folder();
  night.writable = written_by(options);
  const InstallText text = install_text(night);
  std::error_code failure;  // a unit whose folder is missing says so when it starts
  make_user_folders(fs::absolute(options.database()).parent_path(), failure);
  for (const InstallFile& file : text.files) write_file(file.path, file.text);
  options.json ? print(install_json(text)) : print(install_summary(text));
}

}  // namespace

void add_nightly_install(CLI::App& nightly) {
  CLI::App* command = nightly.add_subcommand(
      "install", "Write files that schedule nightly runs with systemd, cron or Slurm");
  command->footer(
      "Example: benchctl nightly install systemd --hosts hosts.json --at 02:30\n"
      "Only writes files, and prints the commands that enable and remove the schedule.");
  auto options = std::make_shared<InstallOptions>();
  add_value(*command, "scheduler", options->scheduler, "systemd|cron|slurm", "Choose the scheduler")
      ->required();
  add_value(*command, "--at", options->at, "HH:MM",
            "Start every day at this time (default: 02:00)");
  add_value(*command, "--to", options->to, "DIR",
            "Write to this folder (default: systemd's unit folder, else nightly/ next to "
            "the database)");
  add_night_options(*command, *options);
  add_dispatch_options(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options] { install(*options); });
}

}  // namespace bench
