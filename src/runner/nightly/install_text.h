// Files that schedule nights, with install and remove commands: systemd unit and timer, crontab
// line, Slurm scrontab entry and, without scrontab (as on Debian 12), a batch job that resubmits
// itself for the next night. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "runner/nightly/time_text.h"

namespace bench {

// A check before a job in the Slurm Prolog. A failure drains the node, so it fails only for a
// confirmed finding, and returns within its limit even if the check hangs.

struct PrologAnswer {
  ExitCode code = ExitCode::ok;  // failed, or ok
  std::string out, err;          // output of the check
  std::string why;               // why it was inconclusive; "" if it was not
};

/// Runs a night command as a child. Exit code 1 means `failed`; any other exit, a crash, a failed
/// start or a timeout after `limit` (the child and its children are killed) means `ok` with a
/// reason.
PrologAnswer run_prolog(const std::vector<std::string>& command, Seconds limit);

enum class NightScheduler { systemd, cron, slurm };
/// Throws Error(usage) with the nearest name.
NightScheduler night_scheduler_from(const std::string& name);

struct NightInstall {
  NightScheduler scheduler = NightScheduler::systemd;
  std::filesystem::path folder;      // absolute, for the files
  std::vector<std::string> command;  // absolute program and its arguments
  TimeOfDay at;
  Seconds budget{1800.0};
  bool for_user = true;    // systemd: user rather than system units
  bool elsewhere = false;  // systemd does not look for units in the folder: they must be linked
  /// systemd: all that a system unit may write to besides /dev and a /tmp of its own.
  std::vector<std::filesystem::path> writable = {};
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

/// Throws Error(usage) for an argument with a line break, which none of these files can represent.
InstallText install_text(const NightInstall& install);

/// A word quoted for systemd's Exec= lines and for its lists of paths.
std::string systemd_word(const std::string& word);
/// Throws Error(usage) for a quote or a backslash.
std::string systemd_path(const std::string& path);
/// Words quoted for crontab commands and sh.
std::string cron_command(const std::vector<std::string>& words);

}  // namespace bench
