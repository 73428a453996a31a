#include "runner/user_name.h"

#include <pwd.h>
#include <unistd.h>

namespace bench {

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr ? std::to_string(getuid()) : entry->pw_name;
}

}  // namespace bench
