#include "runner/nightly/install_text.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "runner/acceptance/drain.h"
#include "runner/launch/process.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr double kGraceShare = 0.1;  // of the limit, between SIGTERM and SIGKILL

}  // namespace

PrologAnswer run_prolog(const std::vector<std::string>& command, Seconds limit) try {
  const auto end = after(limit);
  PrologAnswer answer;
  Printed printed;
  Process process({command, {}});
  const bool in_time = run_until(process, after(limit * (1.0 - kGraceShare)), kMostText, printed);
  if (!in_time) {
    process.signal(SIGTERM);
    run_until(process, end, kMostText, printed);
  }
  answer.out = std::move(printed.output);
  answer.err = std::move(printed.error);
  if (!process.ended()) {  // the destructor kills it and its children
    answer.why = "timed out after " + format(limit) + " and was killed";
    return answer;
  }
  const Exit exit = process.reap();
  if (in_time && !exit.signaled && exit.code == static_cast<int>(ExitCode::failed))
    answer.code = ExitCode::failed;
  else if (!in_time)
    answer.why = "was terminated after " + format(limit * (1.0 - kGraceShare));
  else if (!exit.clean())
    answer.why = "exited with " + exit.text();
  return answer;
} catch (const Error& error) {
  return {ExitCode::ok, "", "", error.what()};
}

namespace {

constexpr const char* kName = "benchctl-nightly";
const std::array<std::string, 3> kSchedulers = {"systemd", "cron", "slurm"};

std::string with_blanks(const std::vector<std::string>& words,
                        std::string (*quoted)(const std::string&)) {
  std::vector<std::string> parts;
  for (const std::string& word : words) parts.push_back(quoted(word));
  return join(parts, " ");
}

/// Time limit for the budget, a hung job and the reports; "HH:MM:SS".
Seconds longest(const NightInstall& install) { return install.budget * 1.5 + Seconds{600.0}; }

std::string slurm_time(Seconds time) {
  const auto minutes = static_cast<long>(std::ceil(time.value / 60.0));
  return fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

/// What a night never needs is denied. Not denied, because GPUs would be missing without an error:
/// devices (PrivateDevices=, DevicePolicy=, and ProtectClock=, which implies one), loading modules
/// and making device nodes (nvidia-modprobe), and memory that is written and executed (oneDNN and
/// CUDA compile kernels). A user's manager may set up no mounts of its own.
std::string sandbox_text(const NightInstall& install) {
  std::string text =
      "NoNewPrivileges=yes\n"
      "LockPersonality=yes\n"
      "RestrictSUIDSGID=yes\n"
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n"
      "SystemCallArchitectures=native\n"
      "SystemCallFilter=~@clock @cpu-emulation @obsolete @raw-io @reboot @swap\n"
      "SystemCallErrorNumber=EPERM\n";
  if (install.for_user) return text;
  std::string folders;
  for (const auto& folder : install.writable) folders += " " + systemd_path(folder.string());
  return text +
         "CapabilityBoundingSet=~CAP_AUDIT_CONTROL CAP_AUDIT_WRITE CAP_BLOCK_SUSPEND "
         "CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_SYS_BOOT CAP_SYS_PACCT "
         "CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM\n"
         "LimitMEMLOCK=infinity\n"
         "PrivateTmp=yes\n"
         "ProtectControlGroups=yes\n"
         "ProtectHome=read-only\n"
         "ProtectHostname=yes\n"
         "ProtectKernelTunables=yes\n"
         "ProtectSystem=strict\n"
         "# Add folders that storage cases or hooks write to: systemctl edit " +
         std::string(kName) + "\nReadWritePaths=" + folders.substr(folders.empty() ? 0 : 1) + "\n";
}

std::string unit_text(const NightInstall& install) {
  return fmt::format(
      "# Written by `benchctl nightly install systemd`.\n"
      "[Unit]\n"
      "Description=benchctl nightly regression checks\n"
      "Wants=network-online.target\n"
      "After=network-online.target\n\n"
      "[Service]\n"
      "Type=oneshot\n"
      "ExecStart={}\n"
      "TimeoutStartSec={:.0f}\n"
      "KillMode=mixed\n"
      "{}",
      with_blanks(install.command, systemd_word), longest(install).value, sandbox_text(install));
}

std::string timer_text(const NightInstall& install) {
  return fmt::format(
      "# Written by `benchctl nightly install systemd`.\n"
      "[Unit]\n"
      "Description=Start {0}.service every night\n\n"
      "[Timer]\n"
      "OnCalendar=*-*-* {1:02}:{2:02}:00\n"
      "Persistent=true\n"
      "Unit={0}.service\n\n"
      "[Install]\n"
      "WantedBy=timers.target\n",
      kName, install.at.hour, install.at.minute);
}

InstallText for_systemd(const NightInstall& install) {
  const std::string systemctl = install.for_user ? "systemctl --user" : "systemctl";
  const auto file = [&](const char* ending) {
    return install.folder / (std::string(kName) + ending);
  };
  InstallText text;
  text.files = {{file(".service"), unit_text(install)}, {file(".timer"), timer_text(install)}};
  if (install.elsewhere)
    text.begin = {systemctl + " link " + shell_words({file(".service"), file(".timer")})};
  text.begin.push_back(systemctl + " daemon-reload");
  text.begin.push_back(systemctl + " enable --now " + kName + ".timer");
  if (install.for_user) text.begin.push_back("loginctl enable-linger");
  text.undo = {systemctl + " disable --now " + kName + ".timer"};
  if (install.elsewhere)  // removes the link
    text.undo.push_back(systemctl + " disable " + kName + ".service");
  text.undo.push_back(shell_words({"rm", file(".service"), file(".timer")}));
  text.undo.push_back(systemctl + " daemon-reload");
  return text;
}

std::string cron_line(const NightInstall& install) {
  return fmt::format("{} {} * * * {}\n", install.at.minute, install.at.hour,
                     cron_command(install.command));
}

/// Marks our lines, so that undoing removes only these.
std::string marked(const std::string& text) {
  return fmt::format("# begin {0}\n{1}# end {0}\n", kName, text);
}

std::string without_marked() { return fmt::format("sed '/^# begin {0}$/,/^# end {0}$/d'", kName); }

InstallText for_cron(const NightInstall& install) {
  const auto file = install.folder / (std::string(kName) + ".crontab");
  InstallText text;
  text.files = {{file, marked(cron_line(install))}};
  text.begin = {fmt::format("(crontab -l 2>/dev/null | {}; cat {}) | crontab -", without_marked(),
                            shell_words({file}))};
  text.undo = {fmt::format("crontab -l | {} | crontab -", without_marked()),
               shell_words({"rm", file})};
  return text;
}

/// Submits the next night first, so that a failure does not end the series. Slurm runs a copy, so
/// the script contains its own path.
std::string batch_text(const NightInstall& install, const std::filesystem::path& file) {
  return fmt::format(
      "#!/bin/sh\n"
      "# Written by `benchctl nightly install slurm`.\n"
      "#SBATCH --job-name={0}\n"
      "#SBATCH --nodes=1\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --time={1}\n"
      "#SBATCH --output={0}-%j.txt\n"
      "#SBATCH {2}\n"
      "sbatch --begin=tomorrowT{3:02}:{4:02}:00 {5}\n"
      "exec {6}\n",
      kName, slurm_time(longest(install)), shell_words({"--chdir=" + install.folder.string()}),
      install.at.hour, install.at.minute, shell_words({file}), shell_words(install.command));
}

InstallText for_slurm(NightInstall install) {
  // The night submits its own jobs; with these variables it would use this allocation.
  install.command.insert(install.command.begin(),
                         {"env", "-u", "SLURM_JOB_ID", "-u", "SLURM_JOBID"});
  const auto entry = install.folder / (std::string(kName) + ".scrontab");
  const auto batch = install.folder / (std::string(kName) + ".sbatch");
  InstallText text;
  text.files = {
      {entry, marked(fmt::format("#SCRON --job-name={} --nodes=1 --ntasks=1 --time={}\n{}", kName,
                                 slurm_time(longest(install)), cron_line(install)))},
      {batch, batch_text(install, batch)}};
  text.begin = {fmt::format("(scrontab -l 2>/dev/null | {}; cat {}) | scrontab -", without_marked(),
                            shell_words({entry})),
                fmt::format("sbatch --begin={:02}:{:02} {}    # if scrontab is unavailable",
                            install.at.hour, install.at.minute, shell_words({batch}))};
  text.undo = {fmt::format("scrontab -l | {} | scrontab -", without_marked()),
               fmt::format("scancel --name={} --me", kName), shell_words({"rm", entry, batch})};
  return text;
}

void check_words(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (std::ranges::any_of(word, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      throw Error(ErrorKind::usage,
                  "'" + printable(word) + "' contains a line break or another control character",
                  "units and crontabs cannot hold it: rename the file");
}

}  // namespace

NightScheduler night_scheduler_from(const std::string& name) {
  const auto found = std::ranges::find(kSchedulers, name);
  if (found == kSchedulers.end())
    throw Error(ErrorKind::usage,
                "unknown scheduler '" + printable(name) + "'." + did_you_mean(name, kSchedulers),
                "use systemd, cron or slurm");
  return static_cast<NightScheduler>(found - kSchedulers.begin());
}

std::string systemd_word(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '%' || c == '$') text += c;  // specifiers and variables are escaped by doubling
    text += c;
  }
  return text + "\"";
}

std::string systemd_path(const std::string& path) {
  if (path.find_first_of("\"\\") != std::string::npos)  // which systemd takes as they are
    throw Error(ErrorKind::usage, "'" + printable(path) + "' contains a quote or a backslash",
                "a unit's list of writable folders cannot hold it: rename the folder");
  std::string text = "\"";
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text + "\"";
}

std::string cron_command(const std::vector<std::string>& words) {
  std::string text;
  for (const char c : shell_words(words)) {
    if (c == '%') text += '\\';  // cron treats a bare % as a line break
    text += c;
  }
  return text;
}

InstallText install_text(const NightInstall& install) {
  check_words(install.command);
  check_words({install.folder.string()});
  for (const auto& folder : install.writable) check_words({folder.string()});
  switch (install.scheduler) {
    case NightScheduler::systemd:
      return for_systemd(install);
    case NightScheduler::cron:
      return for_cron(install);
    case NightScheduler::slurm:
      return for_slurm(install);
  }
  throw Error(ErrorKind::internal, "no install text for this scheduler");
}

}  // namespace bench
