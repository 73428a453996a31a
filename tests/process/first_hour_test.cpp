// What a new user does first: init, doctor, and verify what accept handed on.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>

#include "runner/site/site_settings.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("init writes a hosts file and site settings, and replaces neither") {
  const BenchctlFolder bench;
  const std::string hosts = (bench.folder.path() / "hosts.json").string();
  const std::string site = (bench.folder.path() / "site" / "site.json").string();
  const std::vector<std::string> words = {"init",
                                          "--hosts",
                                          "node[01-03]",
                                          "--slots",
                                          "8",
                                          "--user",
                                          "bench",
                                          "--launcher",
                                          "mpirun",
                                          "--database",
                                          (bench.folder.path() / "results").string(),
                                          "-o",
                                          hosts,
                                          "--site",
                                          site};
  const Answer first = bench.run(words);
  INFO(first.err);
  REQUIRE(first.exit.clean());
  CHECK(Json::parse(read_file(hosts)) == Json::parse(R"({"hosts": [
        {"name": "node[01-03]", "slots": 8, "address": "bench@{name}"}]})"));
  const Json settings = Json::parse(read_file(site));
  CHECK(settings["launcher"] == "mpirun");
  CHECK(settings["database"] == (bench.folder.path() / "results" / "results.sqlite").string());
  CHECK_THAT(first.out, Contains("benchctl doctor --hosts " + hosts));

  const Answer again = bench.run(words);
  CHECK(again.exit.text() == "exit code 2");
  CHECK_THAT(again.err, Contains("file already exists"));
}

TEST_CASE("init counts the CPUs of this host, and asks only on a terminal") {
  const BenchctlFolder bench;
  const std::string hosts = (bench.folder.path() / "hosts.json").string();
  const Answer counted = bench.run({"init", "--hosts", "localhost", "-o", hosts});
  INFO(counted.err);
  REQUIRE(counted.exit.clean());
  CHECK(Json::parse(read_file(hosts))["hosts"][0]["slots"] ==
        std::max(1u, std::thread::hardware_concurrency()));
  const Answer asked = bench.run({"init"});
  CHECK(asked.exit.text() == "exit code 2");
  CHECK_THAT(asked.err, Contains("--hosts is missing, and there is no terminal to ask on"));
}

TEST_CASE("doctor names what is missing, with the command that repairs it") {
  const BenchctlFolder bench;
  const Answer found = bench.run({"doctor", "--rank-program", "/no/such/program"});
  CHECK(found.exit.text() == "exit code 1");
  CHECK_THAT(found.out,
             Contains("repair  bench-rank      not found\n") && Contains("$ scripts/build\n"));
  const Json json =
      Json::parse(bench.run({"doctor", "--rank-program", "/no/such/program", "--json"}).out);
  CHECK(json["need"] == "repair");
  CHECK(json["checks"][0]["check"] == "bench-rank");
  CHECK(json["checks"][0]["hosts"].size() == 1);
}

namespace {

/// Certificates of this host alone, which cannot pass: it has no peers.
struct Certified {
  BenchctlFolder bench;
  std::string folder = (bench.folder.path() / "certificates").string();
  Answer accept(std::vector<std::string> more = {}) {
    const fs::path suite = bench.folder.path() / "suite.json";
    std::ofstream(suite)
        << R"({"suite": "s", "cases": [{"name": "inventory", "probe": "topology"}]})";
    std::vector<std::string> words = {"accept", "--suite", suite.string(), "--max-runs",
                                      "1",      "--html",  folder};
    words.insert(words.end(), more.begin(), more.end());
    return bench.run(words);
  }
  Answer verify(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"verify", folder};
    words.insert(words.end(), more.begin(), more.end());
    return bench.run(words);
  }
};

}  // namespace

namespace {

/// Uses a CPU until it ends.
class BusyProcess {
 public:
  BusyProcess() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::atomic<std::uint64_t> spin = 0;; ++spin) {
    }
  }
  ~BusyProcess() { end(); }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("accept names other work, and waits for its end if asked") {
  if (std::system("command -v top >/dev/null") != 0) {
    WARN("skipped: top is not installed");
    return;
  }
  Certified here;
  BusyProcess busy;
  const Answer named = here.accept();
  CHECK_THAT(named.err,
             Contains("other work on ") && Contains("stop it, or add --wait-idle SECONDS"));
  const Answer waited = here.accept({"--wait-idle", "1"});
  CHECK_THAT(waited.err, Contains("waiting up to 1 s until it ends") &&
                             Contains("other work has not ended; measuring anyway"));
  const Answer anyway = here.accept({"--anyway"});
  CHECK_THAT(anyway.err, !Contains("other work on "));
}

TEST_CASE("verify passes certificates as accept wrote them, and names what was changed") {
  Certified here;
  const Answer accepted = here.accept();
  INFO(accepted.err);
  REQUIRE(fs::exists(here.folder + "/SHA256SUMS"));
  const Answer good = here.verify();
  CHECK(good.exit.clean());
  CHECK_THAT(good.out, Contains("PASS") && Contains("not signed"));
  // The records on which the verdicts rest.
  const std::string check = "cd '" + runs_folder(here.bench.database).string() +
                            "' && sha256sum --check --quiet '" + here.folder + "/evidence.sha256'";
  CHECK(std::system(check.c_str()) == 0);

  std::ofstream(here.folder + "/index.html") << "all passed";
  const Answer bad = here.verify();
  CHECK(bad.exit.text() == "exit code 1");
  CHECK_THAT(bad.out, Contains("FAIL") && Contains("changed  index.html"));
  CHECK(Json::parse(here.verify({"--json"}).out)["changed"] == Json::array({"index.html"}));
  CHECK_THAT(here.verify({"--signers", "/no/such/file"}).out, Contains("not signed"));
}

TEST_CASE("what accept signs is verified with the signer's key") {
  if (std::system("command -v ssh-keygen >/dev/null") != 0) {
    WARN("skipped: ssh-keygen is not installed");
    return;
  }
  Certified here;
  const std::string key = (here.bench.folder.path() / "key").string();
  const std::string make = "ssh-keygen -q -t ed25519 -N '' -C test -f '" + key + "'";
  REQUIRE(std::system(make.c_str()) == 0);
  const Answer accepted = here.accept({"--sign", key});
  INFO(accepted.err);
  CHECK(here.verify().exit.text() == "exit code 3");
  const std::string signers = (here.bench.folder.path() / "signers").string();
  std::ofstream(signers) << "alice@lab " << read_file(key + ".pub");
  const Answer good = here.verify({"--signers", signers});
  CHECK(good.exit.clean());
  CHECK_THAT(good.out, Contains("signed by alice@lab"));

  const Answer useless = here.bench.run({"accept", "--sign", key});
  CHECK(useless.exit.text() == "exit code 2");
  CHECK_THAT(useless.err, Contains("--sign requires --html or --rma"));
}
