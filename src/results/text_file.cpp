#include "results/text_file.h"

#include <fstream>
#include <system_error>

#include "core/error.h"

namespace bench {

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;  // if the folder cannot be made, opening the file reports it
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) throw_errno("write " + path.string(), "choose another path");
}

}  // namespace bench
