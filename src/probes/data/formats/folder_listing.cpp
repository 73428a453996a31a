#include "probes/data/formats/folder_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "core/text.h"

namespace bench::data {
namespace {

template <class Wanted>
std::vector<std::filesystem::path> entries_in(const std::filesystem::path& folder,
                                              const Wanted& wanted) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  if (error)
    throw Error(ErrorKind::environment,
                "cannot read the folder " + printable(folder.string()) + ": " + error.message());
  std::vector<std::filesystem::path> found;
  for (const auto& entry : at)
    if (wanted(entry)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  return entries_in(folder, [](const std::filesystem::directory_entry& entry) {
    std::error_code error;
    return entry.is_directory(error);
  });
}

std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                const std::vector<std::string>& endings) {
  const auto found = entries_in(folder, [&](const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    return entry.is_regular_file(error) &&
           std::ranges::any_of(endings,
                               [&](const std::string& ending) { return name.ends_with(ending); });
  });
  if (found.empty())
    throw Error(
        ErrorKind::input,
        fmt::format("{}: no file ending in {}", printable(folder.string()), join(endings, " or ")),
        "give a folder with the data set");
  return found;
}

}  // namespace bench::data
