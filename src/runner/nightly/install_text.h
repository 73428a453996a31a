// The files by which a machine or a cluster begins a night by itself, and what to do with them:
// systemd's unit and timer, a crontab's line, Slurm's scrontab entry and, where there is no
// scrontab (Debian 12 ships none), a batch job that submits itself for the next night. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/units.h"
#include "runner/nightly/time_text.h"

namespace bench {

enum class NightScheduler { systemd, cron, slurm };
/// Throws Error(usage) with the nearest name.
NightScheduler night_scheduler_from(const std::string& name);

struct NightInstall {
  NightScheduler scheduler = NightScheduler::systemd;
  std::filesystem::path folder;      // absolute; where the files go
  std::vector<std::string> command;  // absolute program, and its words
  TimeOfDay at;
  Seconds budget{1800.0};
  bool for_user = true;  // systemd: of the user, not of the system
};

struct InstallFile {
  std::filesystem::path path;
  std::string text;
};

struct InstallText {
  std::vector<InstallFile> files;
  std::vector<std::string> begin;  // shell commands, in order
  std::vector<std::string> undo;
};

/// Throws Error(usage) for a word of the command that holds a line break: none of these files can
/// hold it.
InstallText install_text(const NightInstall& install);

/// A word as systemd's Exec= lines, a crontab's command and sh take it.
std::string systemd_word(const std::string& word);
std::string cron_command(const std::vector<std::string>& words);

}  // namespace bench
