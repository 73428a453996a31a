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

const Set kTorchrun = {{"RANK", "2"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "0"},
                       {"MASTER_ADDR", "n1"},
                       {"MASTER_PORT", "29500"}};
const Set kSlurm = {{"SLURM_PROCID", "3"},  {"SLURM_NTASKS", "4"},
                    {"SLURM_LOCALID", "1"}, {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                    {"SLURM_JOB_ID", "17"}, {"SLURM_STEP_ID", "0"}};
const Set kMpirun = {
    {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "3141992449"}};

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
  CHECK((found.host == "n1" && found.port == 29500));
  CHECK(found.token.empty());
}

TEST_CASE("where torchrun itself listens at MASTER_PORT the next port is ours") {
  const Set agent = {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RUN_ID", "r7"}};
  CHECK(meet(with(kTorchrun, agent))->port == 29501);
  CHECK(meet(with(kTorchrun, agent))->token == "r7");
  CHECK(meet(with(with(kTorchrun, agent), {{"MASTER_PORT", "65535"}}))->port == 20000);
}

TEST_CASE("in a Slurm step the first node has rank 0, and job and step give port and token") {
  const auto found = meet(kSlurm).value();
  CHECK((found.rank == 3 && found.size == 4 && found.host == "gpu07"));
  CHECK((found.port >= 20000 && found.port < 30000));
  CHECK(found.token == "slurm-17.0");
  CHECK(meet(with(kSlurm, {{"SLURM_PROCID", "0"}}))->port == found.port);
  CHECK(meet(with(kSlurm, {{"SLURM_STEP_ID", "1"}}))->port != found.port);
}

TEST_CASE("torchrun inside a Slurm step numbers the ranks, mpirun before both") {
  CHECK(meet(with(kSlurm, kTorchrun))->source == "torchrun");
  const Set here = {{"BENCH_RENDEZVOUS", "localhost"}};
  CHECK(meet(with(with(kSlurm, kMpirun), here))->source == "mpirun");
}

TEST_CASE("mpirun does not say where rank 0 is: BENCH_RENDEZVOUS does, its port by the job") {
  CHECK_THAT(refusal(kMpirun),
             Contains("the address of rank 0 is unknown to rank 1 of 2 (from mpirun)") &&
                 Contains("BENCH_RENDEZVOUS=host:port"));
  const auto found = meet(with(kMpirun, {{"BENCH_RENDEZVOUS", "localhost"}})).value();
  CHECK((found.host == "localhost" && found.port >= 20000));
}

TEST_CASE("our own variables go before the launcher's") {
  const auto found = meet(with(kTorchrun, {{"BENCH_RENDEZVOUS", "n9:1234"},
                                           {"BENCH_GROUP_TOKEN", "secret"},
                                           {"BENCH_GROUP_INTERFACE", "eth0,10.0.0.0/8"},
                                           {"BENCH_GROUP_TIMEOUT_S", "7"}}))
                         .value();
  CHECK((found.host == "n9" && found.port == 1234 && found.token == "secret"));
  CHECK(found.interfaces == "eth0,10.0.0.0/8");
  CHECK(found.timeout.value == 7.0);
}

TEST_CASE("an address may be a name, IPv4 or IPv6, with a port or without") {
  const auto at = [](const std::string& text) {
    const auto found = meet(with(kTorchrun, {{"BENCH_RENDEZVOUS", text}})).value();
    return found.host + " " + std::to_string(found.port);
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
  CHECK_THAT(refusal(without), Contains("no host") && Contains("set MASTER_ADDR"));
  without = kTorchrun;
  without.erase("MASTER_PORT");
  CHECK_THAT(refusal(without), Contains("no port"));
  CHECK_THAT(refusal(with(kTorchrun, {{"RANK", "two"}})), Contains("RANK is 'two'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"RANK", "4"}})), Contains("from 0 to 3"));
  CHECK_THAT(refusal(with(kTorchrun, {{"WORLD_SIZE", "-1"}})), Contains("WORLD_SIZE is '-1'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"MASTER_PORT", "99999"}})), Contains("MASTER_PORT"));
  CHECK_THAT(refusal(with(kSlurm, {{"SLURM_STEP_NODELIST", "gpu[07-"}})),
             Contains("SLURM_STEP_NODELIST is 'gpu[07-', expected a host list"));
  CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_GROUP_TOKEN", "a b"}})), Contains("token"));
  CHECK_THAT(refusal(with(kTorchrun, {{"BENCH_GROUP_TIMEOUT_S", "0"}})),
             Contains("from 1 to 3600"));
}
