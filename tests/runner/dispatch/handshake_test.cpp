// What ranks say of themselves at their start, and what is made of it.
#include "runner/dispatch/handshake.h"

#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kNow = 1'800'000'000'000'000'000;

Record said(const Json& facts, double ahead_s = 0.0) {
  Record record;
  record.host = "n1";
  record.time_ns = kNow + static_cast<std::int64_t>(ahead_s * 1e9);
  record.body = Facts{"program", facts};
  return record;
}

std::vector<Place> places(const std::vector<std::string>& hosts) {
  std::vector<Place> list;
  for (const std::string& host : hosts) list.push_back({host, host, 1, 1, false});
  return list;
}

VersionMismatch mismatch(const Json& versions, const std::vector<std::string>& hosts) {
  return find_mismatch(read_handshake(said({{"hosts", versions}}), kNow), places(hosts), "/x/rank",
                       "1.0");
}

}  // namespace

TEST_CASE("ranks with the right version on the requested hosts match") {
  CHECK(mismatch({{"n1", "1.0"}, {"n2", "1.0"}}, {"n1", "n2"}).reason.empty());
}

TEST_CASE("every host with another version is named as in the hosts file") {
  const VersionMismatch found =
      mismatch({{"n1", "1.0"}, {"n2", "0.9"}, {"n3.rack", "0.8"}}, {"n1", "n2.rack", "n3"});
  CHECK_THAT(found.reason, Contains("n2: /x/rank is version 0.9, but benchctl is version 1.0") &&
                               Contains("n3.rack: /x/rank is version 0.8"));
  CHECK(found.hosts == std::vector<std::string>{"n2.rack", "n3"});
  CHECK(mismatch({{"alias", "0.9"}}, {"n7"}).hosts == std::vector<std::string>{"n7"});
}

TEST_CASE("ranks on too few hosts are a mismatch of no single host") {
  const VersionMismatch found = mismatch({{"n1", "1.0"}}, {"n1", "n2"});
  CHECK_THAT(found.reason, Contains("on 1 hosts instead of 2"));
  CHECK(found.hosts.empty());
}

TEST_CASE("clock offsets are relative to ours: rank 0's by its record, others' by rank 0's") {
  const Json facts = {{"version", "1.0"}, {"clock_offsets_s", {{"n1", 0.0}, {"n2", -90.0}}}};
  const Handshake intro = read_handshake(said(facts, 60.0), kNow);
  CHECK(intro.clocks.at("n1").value == Approx(60.0));
  CHECK(intro.clocks.at("n2").value == Approx(-30.0));
}

TEST_CASE("a wrong clock is a fact with a warning, an offset within a record's delay is not") {
  CHECK(clock_facts(Seconds{9.0}).is_null());
  CHECK(clock_facts(Seconds{-9.0}).is_null());
  const Json facts = clock_facts(Seconds{-3600.0});
  CHECK(facts.at("clock_offset_s") == -3600.0);
  CHECK_THAT(facts.at("warnings").at(0).get<std::string>(), Contains("3600 s behind"));
  CHECK_THAT(clock_facts(Seconds{11.0}).at("warnings").at(0).get<std::string>(),
             Contains("11 s ahead of"));
}

TEST_CASE("an empty or invalid handshake has an unknown version") {
  CHECK(read_handshake(said(Json::object()), kNow).version == "unknown");
  const Handshake odd = read_handshake(
      said({{"version", 3}, {"hosts", "x"}, {"clock_offsets_s", {{"n2", "late"}}}}), kNow);
  CHECK(odd.version == "unknown");
  CHECK(odd.versions.empty());
  CHECK_FALSE(odd.clocks.contains("n2"));
}
