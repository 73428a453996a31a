#include "probes/serving/rate_search.h"

#include "tests/support/catch.h"

namespace bench::serving {
namespace {

struct SearchedRates {
  std::vector<double> measured = {}, skipped = {};
  RateFound found = {};
};

/// Of a server that keeps the bounds up to a rate; at rate 1 nothing is known.
SearchedRates search_up_to(double most, std::vector<double> rates, std::int64_t refinements) {
  SearchedRates searched;
  searched.found =
      search_rates(std::move(rates), refinements,
                   {.measure = [&](double rate) -> std::optional<bool> {
                      searched.measured.push_back(rate);
                      if (rate == 1.0) return {};
                      return rate <= most;
                    },
                    .skip = [&](double rate, double) { searched.skipped.push_back(rate); }});
  return searched;
}

}  // namespace

TEST_CASE("rates are tried from the lowest on, then halfway between what held and what missed") {
  const SearchedRates searched = search_up_to(5.3, {16, 2, 8, 4}, 2);
  CHECK(searched.measured == std::vector<double>{2, 4, 8, 6, 5});
  CHECK(searched.skipped == std::vector<double>{16});
  CHECK(*searched.found.holds == 5.0);
  CHECK(*searched.found.misses == 6.0);
  CHECK_FALSE(searched.found.highest_held);
}

TEST_CASE("a rate of which nothing is known is not tried again") {
  // Nothing is known of 1, which is halfway.
  const SearchedRates searched = search_up_to(0.7, {0.5, 1.0, 1.5}, 3);
  CHECK(searched.measured == std::vector<double>{0.5, 1.0, 1.5});
  CHECK(*searched.found.holds == 0.5);
  CHECK(*searched.found.misses == 1.5);
}

TEST_CASE("a search says when every rate held, none did, or nothing is known") {
  CHECK_FALSE(search_up_to(100, {2, 4}, 3).found.misses);
  CHECK(*search_up_to(100, {2, 4}, 3).found.holds == 4.0);
  CHECK(search_up_to(100, {2, 4}, 3).found.highest_held);
  CHECK_FALSE(search_up_to(100, {0.5, 1}, 3).found.highest_held);  // of 1 nothing is known
  CHECK_FALSE(search_up_to(100, {}, 3).found.highest_held);
  CHECK_FALSE(search_up_to(0.5, {2, 4}, 3).found.holds);
  CHECK(search_up_to(0.5, {2, 4}, 3).measured == std::vector<double>{2});
  const SearchedRates unknown = search_up_to(100, {1}, 3);
  CHECK_FALSE(unknown.found.holds);
  CHECK_FALSE(unknown.found.misses);
}

}  // namespace bench::serving
