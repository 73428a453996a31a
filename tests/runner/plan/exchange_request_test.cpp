#include "runner/plan/exchange_request.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json exchange_params(const std::string& text) {
  Json params = Json::object();
  add_exchange(exchange_from(text), params);
  return params;
}

/// What is wrong, and what to do.
template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.text();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an exchange is read from its kind and number, and becomes parameters of the training") {
  CHECK(exchange_params("full") == Json::object());
  CHECK(exchange_params("topk") == Json{{"exchange", "topk"}});
  CHECK(exchange_params("topk=0.02") == Json{{"exchange", "topk"}, {"topk_share", 0.02}});
  CHECK(exchange_params("powersgd=4") == Json{{"exchange", "powersgd"}, {"powersgd_rank", 4}});
  CHECK(exchange_params("local=16,momentum=0,rate=1") == Json{{"exchange", "local"},
                                                              {"local_steps", 16},
                                                              {"outer_rate", 1.0},
                                                              {"outer_momentum", 0.0}});
}

TEST_CASE("an exchange that makes no sense is refused with what to write instead") {
  for (const auto& [text, words] :
       {std::pair{"", "use full, topk=SHARE"}, std::pair{"signs", "'signs'"},
        std::pair{"full=1", "'full=1'"}, std::pair{"topk=0", "the share of elements to send"},
        std::pair{"topk=1.5", "topk=1.5"}, std::pair{"topk=1e-3x", "topk=1e-3x"},
        std::pair{"powersgd=0", "a whole number from 1 to 1024"},
        std::pair{"powersgd=2.5", "powersgd=2.5"}, std::pair{"local=0", "from 1 to 1000000"},
        std::pair{"local=4,rate", "'rate'"}, std::pair{"local=4,rate=1,rate=1", "'rate=1'"},
        std::pair{"topk,rate=1", "'rate=1'"}, std::pair{"rate=1", "'rate=1'"},
        std::pair{"local,momentum=1", "momentum=1"}}) {
    INFO(text);
    CHECK_THAT(refusal_of([&, text = text] { exchange_from(text); }),
               Contains("--exchange") && Contains(words));
  }
  CHECK_THAT(refusal_of([] { check_ranks_of_exchange(exchange_from("topk"), 1); }),
             Contains("add --ranks 2"));
  CHECK_NOTHROW(check_ranks_of_exchange(exchange_from("topk"), 2));
  CHECK_NOTHROW(check_ranks_of_exchange(exchange_from("full"), 1));
}
