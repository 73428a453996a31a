// The stand-in server as a program, for scripts/evidence serving_peers.
//
//   serving_stand_in FIRST_TOKEN_S PER_TOKEN_S MOST_AT_ONCE
//
// Prints its URL, and serves until its input ends.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/probes/serving/stand_in_server.h"

using namespace bench::serving;

int main(int count, char** words) try {
  if (count != 4) {
    std::cerr << "usage: serving_stand_in FIRST_TOKEN_S PER_TOKEN_S MOST_AT_ONCE\n";
    return 2;
  }
  const StandInServer server({.first_token = {std::strtod(words[1], nullptr)},
                              .per_token = {std::strtod(words[2], nullptr)},
                              .most_at_once = std::atoi(words[3])});
  std::cout << server.url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "serving_stand_in: " << error.what() << '\n';
  return 1;
}
