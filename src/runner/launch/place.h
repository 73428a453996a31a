// Where some ranks of a job run: one host, as the launcher needs to know it.
#pragma once

#include <string>

namespace bench {

struct Place {
  std::string host;     // its name in the inventory
  std::string address;  // how to reach it
  int ranks = 1;
  int slots = 1;     // ranks it takes without oversubscription
  bool here = true;  // the machine we run on
};

}  // namespace bench
