// Times on the command line, and files that schedule a night.
#include "core/error.h"
#include "runner/nightly/install_text.h"
#include "runner/nightly/time_text.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

NightInstall install_of(NightScheduler scheduler) {
  NightInstall install;
  install.scheduler = scheduler;
  install.folder = "/state/my nights";
  install.command = {"/opt/bench/benchctl", "nightly", "--hosts=/etc/100% $HOME \"x\".json"};
  install.at = {2, 5};
  return install;
}

}  // namespace

TEST_CASE("durations are parsed, and malformed ones are rejected") {
  CHECK(seconds_from("30m", "--budget").value == 1800);
  CHECK(seconds_from("1h30m", "--budget").value == 5400);
  CHECK(seconds_from("90", "--budget").value == 90);
  CHECK(seconds_from("0.5s", "--budget").value == 0.5);
  CHECK(seconds_from("2d", "--older").value == 172800);
  for (const char* wrong : {"", "0", "-5m", "m", "5x", "1e9d", "nan", "inf", "1 h", "\x1b[2J"})
    CHECK_THROWS_AS(seconds_from(wrong, "--budget"), Error);
  CHECK(time_of_day_from("02:30", "--at").minute == 30);
  CHECK(time_of_day_from("7:05", "--at").hour == 7);
  for (const char* wrong : {"24:00", "12:60", "12", ":30", "12:3", "aa:bb", "-1:00"})
    CHECK_THROWS_AS(time_of_day_from(wrong, "--at"), Error);
}

TEST_CASE("unit arguments escape quotes, percent signs and variables for systemd") {
  const InstallText text = install_text(install_of(NightScheduler::systemd));
  REQUIRE(text.files.size() == 2);
  CHECK_THAT(text.files[0].text, Contains("ExecStart=\"/opt/bench/benchctl\" \"nightly\" "
                                          "\"--hosts=/etc/100%% $$HOME \\\"x\\\".json\"\n"));
  CHECK_THAT(text.files[1].text,
             Contains("OnCalendar=*-*-* 02:05:00\n") && Contains("Persistent=true"));
  CHECK_THAT(text.undo[0], Contains("disable --now benchctl-nightly.timer"));
}

TEST_CASE("units in a folder that systemd does not search are linked, and unlinked again") {
  NightInstall install = install_of(NightScheduler::systemd);
  CHECK_THAT(install_text(install).begin[0], Contains("daemon-reload"));
  install.elsewhere = true;
  const InstallText text = install_text(install);
  CHECK_THAT(text.begin[0], Contains("systemctl --user link '/state/my nights/benchctl-nightly"));
  CHECK_THAT(text.begin[2], Contains("enable --now benchctl-nightly.timer"));
  CHECK_THAT(text.undo[1], Contains("disable benchctl-nightly.service"));
}

TEST_CASE("a system unit may write to its folders only, and keeps the devices that it measures") {
  NightInstall install = install_of(NightScheduler::systemd);
  install.for_user = false;
  install.writable = {"/var/lib/my 100% nights", "/srv/textfiles"};
  const std::string unit = install_text(install).files[0].text;
  for (const char* line :
       {"NoNewPrivileges=yes\n", "ProtectSystem=strict\n", "ProtectHome=read-only\n",
        "PrivateTmp=yes\n", "ProtectKernelTunables=yes\n", "LimitMEMLOCK=infinity\n",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n",
        "\nReadWritePaths=\"/var/lib/my 100%% nights\" \"/srv/textfiles\"\n"})
    CHECK_THAT(unit, Contains(line));
  // Each would hide GPUs, the kernel log or compiled kernels: a night would pass without them.
  for (const char* word : {"PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectClock",
                           "ProtectKernelLogs", "ProtectKernelModules", "MemoryDenyWriteExecute",
                           "CAP_SYSLOG", "CAP_SYS_MODULE", "CAP_MKNOD", "CAP_IPC_LOCK", "@debug"})
    CHECK_THAT(unit, !Contains(word));
  install.writable = {"/var/lib/a\"b"};
  CHECK_THROWS_AS(install_text(install), Error);
}

TEST_CASE("a user's unit has no mounts, which a user's manager cannot make") {
  const std::string unit = install_text(install_of(NightScheduler::systemd)).files[0].text;
  CHECK_THAT(unit, Contains("NoNewPrivileges=yes\n") && Contains("RestrictAddressFamilies="));
  for (const char* word : {"ProtectSystem", "PrivateTmp", "CapabilityBoundingSet"})
    CHECK_THAT(unit, !Contains(word));
}

TEST_CASE("a crontab line escapes percent signs and quotes, and its marks allow removal") {
  const InstallText text = install_text(install_of(NightScheduler::cron));
  REQUIRE(text.files.size() == 1);
  CHECK_THAT(text.files[0].text, Contains("\n5 2 * * * /opt/bench/benchctl nightly "
                                          "'--hosts=/etc/100\\% $HOME \"x\".json'\n"));
  CHECK_THAT(text.begin[0], Contains("'/state/my nights/benchctl-nightly.crontab'"));
  CHECK_THAT(text.undo[0], Contains("/^# begin benchctl-nightly$/,/^# end benchctl-nightly$/d"));
}

TEST_CASE("Slurm gets a scrontab entry, and a batch job as the alternative") {
  const InstallText text = install_text(install_of(NightScheduler::slurm));
  REQUIRE(text.files.size() == 2);
  CHECK_THAT(text.files[0].text, Contains("#SCRON --job-name=benchctl-nightly") &&
                                     Contains("--time=00:55:00\n5 2 * * * "));
  CHECK_THAT(
      text.files[1].text,
      Contains("#SBATCH '--chdir=/state/my nights'\n") &&
          Contains("sbatch --begin=tomorrowT02:05:00 '/state/my nights/benchctl-nightly.sbatch'"));
  CHECK_THAT(text.undo[1], Contains("scancel --name=benchctl-nightly"));
}

TEST_CASE("an argument that no unit or crontab can hold is rejected") {
  NightInstall install = install_of(NightScheduler::cron);
  install.command.push_back("--hosts=/tmp/a\n* * * * * rm");
  CHECK_THROWS_AS(install_text(install), Error);
  CHECK_THROWS_AS(night_scheduler_from("systmd"), Error);
  CHECK(night_scheduler_from("cron") == NightScheduler::cron);
}
