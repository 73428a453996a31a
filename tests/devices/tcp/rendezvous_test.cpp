// Where a rank meets the others, as launchers' variables say it.
#include "devices/tcp/rendezvous.h"

#include <map>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

using Set = std::map<std::string, std::string>;

std::optional<Rendezvous> meet(const Set& set) {
  return find_rendezvous([&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const Set& set) {
  try {
    meet(set);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

Set with(Set set, const Set& more) {
  for (const auto& [name, value] : more) set[name] = value;
  return set;
}

const std::string kSecret(64, '5');
const Set kTorchrun = {
    {"RANK", "2"},         {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "0"},
    {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}, {"BENCH_GROUP_SECRET", kSecret}};
const Set kSlurm = {{"SLURM_PROCID", "3"},          {"SLURM_NTASKS", "4"},
                    {"SLURM_LOCALID", "1"},         {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                    {"SLURM_JOB_ID", "17"},         {"SLURM_STEP_ID", "0"},
                    {"BENCH_GROUP_SECRET", kSecret}};
const Set kMpirun = {{"OMPI_COMM_WORLD_RANK", "1"},
                     {"OMPI_COMM_WORLD_SIZE", "2"},
                     {"PMIX_NAMESPACE", "3141992449"},
                     {"BENCH_GROUP_SECRET", kSecret}};

}  // namespace

TEST_CASE("without a launcher of several ranks there is no rendezvous") {
  CHECK_FALSE(meet({}));
  CHECK_FALSE(meet(with(kTorchrun, {{"WORLD_SIZE", "1"}, {"RANK", "0"}})));
  CHECK_FALSE(meet({{"RANK", "3"}}));
  CHECK_FALSE(meet({{"SLURM_NTASKS", "8"}}));  // a batch script: no rank
}

TEST_CASE("torchrun's variables are taken as they are") {
  const auto found = meet(kTorchrun).value();
  CHECK(found.source == "torchrun");
  CHECK((found.rank == 2 && found.size == 4));
  CHECK((found.host == "n1" && found.ports == std::vector{29500}));
  CHECK((found.group.empty() && found.secret == kSecret));
}

TEST_CASE("where torchrun itself listens at MASTER_PORT the next port is ours") {
  const Set agent = {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RUN_ID", "r7"}};
  CHECK(meet(with(kTorchrun, agent))->ports == std::vector{29501});
  CHECK(meet(with(kTorchrun, agent))->group == "r7");
  CHECK(meet(with(with(kTorchrun, agent), {{"MASTER_PORT", "65535"}}))->ports ==
        std::vector{20000});
}

TEST_CASE("in a Slurm step the first node has rank 0, and job and step name the group") {
  const auto found = meet(kSlurm).value();
  CHECK((found.rank == 3 && found.size == 4 && found.host == "gpu07"));
  CHECK(found.group == "slurm-17.0");
}

TEST_CASE("ports are the same for all ranks, and follow from secret and group") {
  const auto found = meet(kSlurm).value();
  CHECK(found.ports.size() > 1);
  for (const int port : found.ports) CHECK((port >= 20000 && port < 30000));
  CHECK(meet(with(kSlurm, {{"SLURM_PROCID", "0"}}))->ports == found.ports);
  CHECK(meet(with(kSlurm, {{"SLURM_STEP_ID", "1"}}))->ports != found.ports);
  CHECK(meet(with(kSlurm, {{"BENCH_GROUP_SECRET", std::string(64, '6')}}))->ports != found.ports);
}

TEST_CASE("without a secret, or with one that can be guessed, ranks do not meet") {
  Set without = kTorchrun;
  without.erase("BENCH_GROUP_SECRET");
  CHECK_THAT(refusal(without), Contains("rank 2 of 4 (from torchrun) has no BENCH_GROUP_SECRET") &&
                                   Contains("openssl rand -hex 32"));
  CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_GROUP_SECRET", std::string(31, '5')}})),
             Contains("has 31 characters") && !Contains(std::string(31, '5')));
  CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_GROUP_SECRET",
                                       std::string(20, '5') + " " + std::string(20, '5')}})),
             Contains("without blanks"));
}

TEST_CASE("torchrun inside a Slurm step numbers the ranks, mpirun before both") {
  CHECK(meet(with(kSlurm, kTorchrun))->source == "torchrun");
  const Set here = {{"BENCH_RENDEZVOUS", "localhost"}};
  CHECK(meet(with(with(kSlurm, kMpirun), here))->source == "mpirun");
}

TEST_CASE("mpirun does not say where rank 0 is: BENCH_RENDEZVOUS does") {
  CHECK_THAT(refusal(kMpirun),
             Contains("the address of rank 0 is unknown to rank 1 of 2 (from mpirun)") &&
                 Contains("BENCH_RENDEZVOUS=host[:port]"));
  const auto found = meet(with(kMpirun, {{"BENCH_RENDEZVOUS", "localhost"}})).value();
  CHECK((found.host == "localhost" && found.ports.size() > 1));
}

TEST_CASE("our own variables go before the launcher's") {
  const auto found = meet(with(kTorchrun, {{"BENCH_RENDEZVOUS", "n9:1234"},
                                           {"BENCH_GROUP_INTERFACE", "eth0,10.0.0.0/8"},
                                           {"BENCH_GROUP_TIMEOUT_S", "7"}}))
                         .value();
  CHECK((found.host == "n9" && found.ports == std::vector{1234}));
  CHECK(found.interfaces == "eth0,10.0.0.0/8");
  CHECK(found.timeout.value == 7.0);
}

TEST_CASE("an address may be a name, IPv4 or IPv6, with a port or without") {
  const auto at = [](const std::string& text) {
    const auto found = meet(with(kTorchrun, {{"BENCH_RENDEZVOUS", text}})).value();
    return found.host + " " + std::to_string(found.ports.at(0));
  };
  CHECK(at("10.0.0.1") == "10.0.0.1 29500");
  CHECK(at("10.0.0.1:80") == "10.0.0.1 80");
  CHECK(at("fd00::1") == "fd00::1 29500");
  CHECK(at("[fd00::1]:80") == "fd00::1 80");
  CHECK(at("[fd00::1]") == "fd00::1 29500");
  for (const char* bad : {"n1:", ":80", "n1:x", "n1:0", "n1:70000", "[fd00::1", "[]:80", "n1:80x"})
    CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_RENDEZVOUS", bad}})),
               Contains("BENCH_RENDEZVOUS is"));
}

TEST_CASE("missing and non-numeric variables are reported with their value") {
  Set without = kTorchrun;
  without.erase("MASTER_ADDR");
  CHECK_THAT(refusal(without),
             Contains("the address of rank 0 is unknown") && Contains("set MASTER_ADDR"));
  CHECK_THAT(refusal(with(kTorchrun, {{"RANK", "two"}})), Contains("RANK is 'two'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"RANK", "4"}})), Contains("from 0 to 3"));
  CHECK_THAT(refusal(with(kTorchrun, {{"WORLD_SIZE", "-1"}})), Contains("WORLD_SIZE is '-1'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"MASTER_PORT", "99999"}})), Contains("MASTER_PORT"));
  CHECK_THAT(refusal(with(kSlurm, {{"SLURM_STEP_NODELIST", "gpu[07-"}})),
             Contains("SLURM_STEP_NODELIST is 'gpu[07-', expected a host list"));
  CHECK_THAT(refusal(with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "a b"}})), Contains("job's name"));
  CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_GROUP_TIMEOUT_S", "0"}})),
             Contains("from 1 to 3600"));
}
