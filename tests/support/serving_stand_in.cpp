// The stand-in server as a program, for scripts/evidence serving_load.
//
//   serving_stand_in FIRST_TOKEN_S PER_TOKEN_S MOST_AT_ONCE
//
// Prints its URL, and serves until its input ends. Then prints how late its first tokens were, as
// JSON.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/probes/serving/stand_in_server.h"

using namespace bench::serving;

int main(int count, char** words) try {
  if (count != 4) {
    std::cerr << "usage: serving_stand_in FIRST_TOKEN_S PER_TOKEN_S MOST_AT_ONCE\n";
    return 2;
  }
  StandInServer server({.first_token = {std::strtod(words[1], nullptr)},
                        .per_token = {std::strtod(words[2], nullptr)},
                        .most_at_once = std::atoi(words[3])});
  std::cout << server.url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  std::vector<double> late = server.first_token_lateness();
  std::ranges::sort(late);
  const auto at = [&](double share) {
    return late.empty()
               ? 0.0
               : late[static_cast<std::size_t>(share * static_cast<double>(late.size() - 1))];
  };
  std::cout << "{\"late_p50_s\": " << at(0.5) << ", \"late_p99_s\": " << at(0.99) << "}\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "serving_stand_in: " << error.what() << '\n';
  return 1;
}
