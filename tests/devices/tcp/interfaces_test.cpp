// Which of a host's addresses a choice means.
#include <arpa/inet.h>

#include "core/error.h"
#include "devices/tcp/tcp_socket.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Address address(const std::string& text) {
  sockaddr_storage storage{};
  const bool six = text.find(':') != std::string::npos;
  storage.ss_family = six ? AF_INET6 : AF_INET;
  void* bytes = six ? static_cast<void*>(&reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr)
                    : static_cast<void*>(&reinterpret_cast<sockaddr_in*>(&storage)->sin_addr);
  REQUIRE(inet_pton(storage.ss_family, text.c_str(), bytes) == 1);
  return make_address(reinterpret_cast<const sockaddr&>(storage), 80);
}

bool chooses(const std::string& word, const std::string& ip) {
  return bench::chooses(word, "eth0", address(ip));
}

}  // namespace

TEST_CASE("an interface is chosen by its whole name") {
  CHECK(chooses("eth0", "10.0.0.1"));
  CHECK_FALSE(chooses("eth", "10.0.0.1"));
  CHECK_FALSE(chooses("eth01", "10.0.0.1"));
  CHECK_FALSE(chooses("", "10.0.0.1"));
}

TEST_CASE("a network chooses the addresses in it, to the bit") {
  CHECK(chooses("10.0.0.0/8", "10.255.1.2"));
  CHECK_FALSE(chooses("10.0.0.0/8", "11.0.0.1"));
  CHECK(chooses("192.168.4.0/23", "192.168.5.9"));
  CHECK_FALSE(chooses("192.168.4.0/23", "192.168.6.9"));
  CHECK(chooses("0.0.0.0/0", "1.2.3.4"));
  CHECK(chooses("10.0.0.1/32", "10.0.0.1"));
  CHECK_FALSE(chooses("10.0.0.1/32", "10.0.0.2"));
  CHECK(chooses("fd00::/8", "fd12::1"));
  CHECK_FALSE(chooses("fd00::/8", "fe80::1"));
}

TEST_CASE("a network that is none chooses nothing") {
  for (const char* word :
       {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "10.0.0/8", "/8", "10.0.0.0/"})
    CHECK_FALSE(chooses(word, "10.0.0.0"));
  CHECK_FALSE(chooses("fd00::/8", "10.0.0.1"));
}

TEST_CASE(
    "this host has its loopback, and an interface it lacks is an error that names the others") {
  bool loopback = false;
  for (const Address& one : chosen_addresses("127.0.0.0/8", 80))
    loopback |= in_words(one) == "127.0.0.1";
  CHECK(loopback);
  CHECK_THROWS_WITH(chosen_addresses("nope7", 80), Contains("'nope7'"));
}
