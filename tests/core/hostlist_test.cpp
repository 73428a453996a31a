#include "core/hostlist.h"

#include <random>
#include <set>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

using Names = std::vector<std::string>;

std::string refusal(const std::string& expression) {
  try {
    expand_hostlist(expression);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a host expression gives its names in its order") {
  CHECK(expand_hostlist("b,a") == Names{"b", "a"});
  CHECK(expand_hostlist("node[1-3,7],login") == Names{"node1", "node2", "node3", "node7", "login"});
  CHECK(expand_hostlist("[1-2]a") == Names{"1a", "2a"});
  CHECK(expand_hostlist("n[5]-ib0.site") == Names{"n5-ib0.site"});
}

TEST_CASE("numbers are padded as the low end of their range is written") {
  CHECK(expand_hostlist("n[08-11]") == Names{"n08", "n09", "n10", "n11"});
  CHECK(expand_hostlist("n[8-11]") == Names{"n8", "n9", "n10", "n11"});
  CHECK(expand_hostlist("n[001,7,09]") == Names{"n001", "n7", "n09"});
  CHECK(expand_hostlist("n[001-3]") == Names{"n001", "n002", "n003"});
}

TEST_CASE("several brackets multiply, the leftmost turning slowest") {
  CHECK(expand_hostlist("r[1-2]-n[01-02]") == Names{"r1-n01", "r1-n02", "r2-n01", "r2-n02"});
  CHECK(expand_hostlist("rack[1-4]-node[001-250]").size() == 1000);
}

TEST_CASE("a wrong host expression is refused at its position") {
  CHECK_THAT(refusal(""), Contains("position 1") && Contains("empty name"));
  CHECK_THAT(refusal("a,,b"), Contains("position 3") && Contains("empty name"));
  CHECK_THAT(refusal("a,"), Contains("position 3"));
  CHECK_THAT(refusal("node[1-"), Contains("position 8") && Contains("ends in a bracket"));
  CHECK_THAT(refusal("node[1-3"), Contains("position 5") && Contains("not closed"));
  CHECK_THAT(refusal("node[1-3]]"), Contains("position 10") && Contains("']'"));
  CHECK_THAT(refusal("node[]"), Contains("position 6") && Contains("number"));
  CHECK_THAT(refusal("node[1-x]"), Contains("position 8"));
  CHECK_THAT(refusal("node[1[2]]"), Contains("position 7"));
  CHECK_THAT(refusal("node[5-1]"),
             Contains("position 6") && Contains("5-1") && Contains("reversed"));
  CHECK_THAT(refusal("node[1-010]"), Contains("position 6") && Contains("padding"));
  CHECK_THAT(refusal("node[1234567890123456789]"), Contains("18 digits"));
}

TEST_CASE("a host expression rejects options and shell metacharacters") {
  CHECK_THAT(refusal("-oProxyCommand=x"), Contains("position 15"));
  CHECK_THAT(refusal("-a"), Contains("must begin with a letter"));
  for (const std::string text :
       {"a b", "a;b", "$(a)", "a`b`", "a\nb", "a/b", "a@b", "a'b", "{name}"})
    CHECK_THAT(refusal(text), Contains("is not allowed in a name"));
  CHECK_THAT(refusal(std::string("a\0b", 3)), Contains("position 2"));
  CHECK_THAT(refusal("a\x1b[2J"), Contains("\\x1b"));
}

TEST_CASE("an expression for too many hosts is refused before they are made") {
  CHECK_THAT(refusal("n[1-100001]"), Contains("more than 100000 hosts"));
  CHECK_THAT(refusal("n[0-999999999999999999]"), Contains("more than 100000 hosts"));
  CHECK_THAT(refusal("n[1-1000][1-1000]"), Contains("more than 100000 hosts"));
  CHECK_THAT(refusal("a[1-60000],b[1-60000]"), Contains("more than 100000 hosts"));
  std::string many = "n";
  for (int i = 0; i < 200; ++i) many += "[1-9]";
  CHECK_THAT(refusal(many), Contains("more than 100000 hosts"));
  CHECK_THAT(refusal(std::string(256, 'n')), Contains("255 characters"));
  CHECK(expand_hostlist("n[1-100000]").size() == 100000);
  CHECK_THROWS_WITH(expand_hostlist("n[1-5]", 4), Contains("more than 4 hosts"));
}

TEST_CASE("names become a short expression, sorted by number behind one prefix") {
  CHECK(compact_hostlist({"node007", "node003", "login", "node001", "node002"}) ==
        "node[001-003,007],login");
  CHECK(compact_hostlist({"n9", "n10", "n11"}) == "n[9-11]");
  CHECK(compact_hostlist({"n08", "n09", "n10"}) == "n[08-10]");
  CHECK(compact_hostlist({"n1", "n01", "n1"}) == "n[1,01]");
  CHECK(compact_hostlist({"a", "a1"}) == "a,a1");
  CHECK(compact_hostlist({"r1-n1-ib", "r1-n2"}) == "r1-n1-ib,r1-n2");
  CHECK(compact_hostlist({}).empty());
}

TEST_CASE("a set of names survives being made short") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> names;
    for (int i = 0; i < 40; ++i) {
      std::string digits = std::to_string(random() % 120);
      digits.insert(0, random() % 3, '0');
      names.insert((random() % 2 == 0 ? "n" : "r1-n") + digits);
    }
    names.insert("n" + std::string(25, '9'));
    const std::string expression = compact_hostlist({names.begin(), names.end()});
    const Names back = expand_hostlist(expression);
    CAPTURE(expression);
    CHECK(back.size() == names.size());
    CHECK(std::set<std::string>(back.begin(), back.end()) == names);
  }
}
