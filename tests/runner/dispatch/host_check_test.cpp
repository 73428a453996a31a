#include "runner/dispatch/host_check.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("hosts that do not answer for the same reason are named together") {
  std::vector<HostAnswer> answers;
  for (const char* host : {"node01", "node02", "node03"})
    answers.push_back(
        {host, std::string("does not answer: ssh: cannot resolve ") + host + ": unknown", ""});
  answers.push_back({"node04", "", "killed 2"});
  CHECK(troubles_text(answers) ==
        "node[01-03] (3 of 4 hosts) does not answer: ssh: cannot resolve node01: unknown");
  answers[1].trouble = "has a stuck process: 17";
  CHECK(troubles_text(answers) ==
        "node[01,03] (2 of 4 hosts) does not answer: ssh: cannot resolve node01: unknown; "
        "node02 has a stuck process: 17");
  CHECK(troubles_text({answers[3]}) == "");
  CHECK(troubles_text({answers[1]}) == "node02 has a stuck process: 17");
}
