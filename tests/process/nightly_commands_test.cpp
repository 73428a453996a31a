// Around a night: lock, hooks, prolog, pick, prune, install.
#include <cstdlib>

#include "core/error.h"
#include "results/run/file_system.h"
#include "tests/process/nightly_bench.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("a second nightly run on the same database is refused, naming the lock holder") {
  const NightBench bench;
  bench.tell("100");
  fs::path lock = bench.database;
  lock += ".nightly.lock";
  const FileLock held(lock, std::chrono::milliseconds(0));
  const Answer answer = bench.night();
  CHECK(answer.exit.text() == "exit code 4");
  CHECK_THAT(answer.err,
             Contains("another night is running") && Contains(std::to_string(getpid())));
  CHECK_FALSE(fs::exists(bench.folder.path() / "runs"));
}

TEST_CASE("hooks get each finding on standard input, without a shell") {
  const NightBench bench;
  bench.tell("100");
  const auto heard = bench.folder.path() / "heard.json";
  const std::string hook = bench.script("hook", "cat >> '" + heard.string() + "'\necho $# >&2\n");
  const std::string bad = bench.script("bad", "echo no mail today >&2\nexit 7\n");
  const Answer answer = bench.run(
      {"nightly", "--suite", bench.night_suite({{"FAULTY_RANK", "exit3"}}), "--json", "--hook",
       hook, "--hook", bad, "--rank-program", (program_folder() / "faulty_rank").string()});
  INFO(answer.err);
  const Json night = parse_json(answer.out, "nightly");
  REQUIRE(night["hooks"].size() == 2);
  CHECK(night["hooks"][0]["trouble"].is_null());
  CHECK(night["hooks"][1]["trouble"] == "exit code 7: no mail today");
  const Json told = parse_json(read_file(heard), "hook");
  CHECK(told == night["findings"][0]);
  CHECK_THAT(bench.night({"--hook", "/nowhere/hook"}).err, Contains("/nowhere/hook"));
}

TEST_CASE("a prolog fails only for a confirmed finding") {
  const NightAfterNine bench;
  bench.tell("100");
  CHECK(bench.night({"--prolog"}).exit.text() == "exit code 0");
  bench.tell("80");
  CHECK(bench.night({"--prolog"}).exit.text() == "exit code 1");
  bench.tell("100");
  std::vector<std::string> broken = bench.words({"--prolog"});
  broken[6] = "/nowhere/bench-rank";
  const Answer none = bench.run(broken);
  CHECK(none.exit.text() == "exit code 0");
  CHECK_THAT(none.err, Contains("node not checked"));
  const Answer missing = bench.run({"nightly", "--prolog", "--suite", "/nowhere/suite.json"});
  CHECK(missing.exit.text() == "exit code 0");
  CHECK_THAT(missing.err, Contains("/nowhere/suite.json") && Contains("exit code 2"));
}

TEST_CASE("pick returns the healthiest hosts, or none if too few are fit") {
  const NightAfterNine bench;
  const auto hosts = bench.folder.path() / "hosts.json";
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::ofstream(hosts) << Json{
      {"hosts", {{{"name", name}, {"slots", 4}}, {{"name", "unseen"}, {"slots", 4}}}}};
  const Answer one = bench.run({"nightly", "pick", "1", "--hosts", hosts.string()});
  CHECK(one.exit.clean());
  CHECK(one.out == std::string(name) + " slots=4\n");
  const Answer two = bench.run({"nightly", "pick", "2", "--hosts", hosts.string()});
  CHECK(two.exit.text() == "exit code 3");
  CHECK(two.out.empty());
  CHECK_THAT(two.err, Contains("unseen: never checked") && Contains("1 of 2 are fit"));
  bench.tell("80");
  bench.night();
  const Answer none = bench.run({"nightly", "pick", "1", "--hosts", hosts.string()});
  CHECK(none.exit.text() == "exit code 3");
  CHECK_THAT(none.err, Contains("slower in null.value since"));
}

TEST_CASE("prune thins old samples without changing reports or a rebuilt database") {
  const NightAfterNine bench;
  const auto report = [&] { return bench.run({"show", "latest", "--json"}).out; };
  const std::string before = report();
  const Json plan = parse_json(
      bench.run({"nightly", "prune", "--older", "0.001s", "--keep", "5", "--dry-run", "--json"})
          .out,
      "prune");
  CHECK(plan["series"] == 9);
  CHECK(report() == before);
  const Answer done = bench.run({"nightly", "prune", "--older", "0.001s", "--keep", "5"});
  INFO(done.err);
  CHECK_THAT(done.out, Contains("thinned 3555 samples of 9 series in 9 runs"));
  CHECK(report() == before);
  fs::remove(bench.database);
  CHECK(bench.run({"rebuild"}).exit.clean());
  CHECK(report() == before);
  bench.tell("80");
  CHECK(bench.night_json()["verdict"] == "fail");
}

TEST_CASE("installing and removing a cron schedule keeps the other lines of the crontab") {
  const NightBench bench;
  const auto tab = bench.folder.path() / "tab";
  std::ofstream(tab) << "5 4 * * * backup --all\n";
  bench.script("crontab", "if [ \"$1\" = -l ]; then cat '" + tab.string() + "'; else cat > '" +
                              tab.string() + ".new'; mv '" + tab.string() + ".new' '" +
                              tab.string() + "'; fi\n");
  const auto shell = [&](const std::string& command) {
    const std::string path = bench.folder.path().string() + ":" + std::getenv("PATH");
    return Program({{"sh", "-c", command}, {{"PATH", path}}}).wait();
  };
  const Json installed =
      parse_json(bench
                     .run({"nightly", "install", "cron", "--at", "03:15", "--budget", "10m", "--to",
                           (bench.folder.path() / "it's").string(), "--json"})
                     .out,
                 "install");
  for (int i = 0; i < 2; ++i) CHECK(shell(installed["begin"][0]).exit.clean());
  const std::string with = read_file(tab);
  CHECK_THAT(with, Contains("5 4 * * * backup --all\n") && Contains("\n15 3 * * * "));
  CHECK(with.find("15 3 * * *") == with.rfind("15 3 * * *"));
  for (const Json& command : installed["undo"]) CHECK(shell(command).exit.clean());
  CHECK(read_file(tab) == "5 4 * * * backup --all\n");
  CHECK_FALSE(fs::exists(installed["files"][0]["path"].get<std::string>()));
}

TEST_CASE("installed units and scripts are valid for their programs") {
  const NightBench bench;
  const std::string folder = bench.folder.path().string();
  CHECK(bench.run({"nightly", "install", "slurm", "--to", folder}).exit.clean());
  CHECK(Program({{"sh", "-n", folder + "/benchctl-nightly.sbatch"}, {}}).wait().exit.clean());
  const Answer answer = bench.run({"nightly", "install", "systemd", "--to", folder});
  CHECK_THAT(answer.out, Contains("to enable:") && Contains("to remove:"));
  try {
    find_program("systemd-analyze");
  } catch (const Error& missing) {
    WARN("units are not verified: " << missing.what());
    return;
  }
  const Answer verified =
      Program({{"systemd-analyze", "verify", "--man=no", folder + "/benchctl-nightly.service",
                folder + "/benchctl-nightly.timer"},
               {}})
          .wait();
  INFO(verified.err);
  CHECK(verified.exit.clean());
  CHECK_THAT(verified.err, !Contains("gnoring"));  // an option that is misspelt or too new
}

TEST_CASE("a schedule whose hook does not exist is refused") {
  const NightBench bench;
  const std::string folder = (bench.folder.path() / "units").string();
  const Answer answer =
      bench.run({"nightly", "install", "systemd", "--to", folder, "--hook", "/no/such/program"});
  CHECK_FALSE(answer.exit.clean());
  CHECK_THAT(answer.err, Contains("/no/such/program"));
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("an unknown scheduler is rejected with the nearest name") {
  const NightBench bench;
  const Answer answer = bench.run({"nightly", "install", "systmd"});
  CHECK(answer.exit.text() == "exit code 2");
  CHECK_THAT(answer.err, Contains("Did you mean 'systemd'?"));
  CHECK_THAT(bench.run({"nightly", "--budget", "soon"}).err, Contains("invalid time 'soon'"));
  CHECK_THAT(bench.run({"nightly", "pikc"}).err, Contains("Did you mean 'pick'?"));
}

TEST_CASE("a night is written as one page with host text escaped") {
  const NightAfterNine bench;
  bench.tell("80");
  const auto page = bench.folder.path() / "night.html";
  CHECK(bench.night({"--html", page.string()}).exit.text() == "exit code 1");
  CHECK_THAT(read_file(page), Contains("<svg") && Contains("confirmed") && Contains("null.value"));
}
