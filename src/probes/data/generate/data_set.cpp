#include "probes/data/generate/data_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "core/error.h"
#include "core/private_folder.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "probes/data/generate/writers.h"

namespace bench::data {
namespace {

constexpr const char* kDescription = "data_set.json";
constexpr int kVersion = 1;  // of the generated content

Written write_files(const std::filesystem::path& folder, const DataSetWish& wish) {
  switch (wish.format) {
    case Format::jpeg_folder:
      return write_image_folder(folder, wish);
    case Format::tar:
      return wish.pictures.empty() ? write_tar_shards(folder, wish)
                                   : write_drawn_shards(folder, wish);
    case Format::records:
    case Format::raw:
      return write_record_files(folder, wish);
    case Format::tokens:
      return write_tokens(folder, wish);
    case Format::criteo_tsv:
      return write_criteo_text(folder, wish);
    case Format::criteo_binary:
      return write_criteo_binary(folder, wish);
  }
  throw Error(ErrorKind::internal, "unknown format");
}

void check_room(const std::filesystem::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (!error && static_cast<double>(space.available) < 1.1 * static_cast<double>(bytes))
    throw Error(ErrorKind::environment,
                fmt::format("{} has {} free, but the data set needs {}", printable(folder.string()),
                            format(Bytes{static_cast<double>(space.available)}),
                            format(Bytes{static_cast<double>(bytes)})),
                "reduce dataset_bytes, or use another folder");
}

/// One sync of the file system: syncing a single small file costs as much.
void to_disk(const std::filesystem::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.valid() || ::syncfs(file.get()) != 0)
    throw_errno("bring " + printable(folder.string()) + " to its disk");
}

/// Not through a link, and not in a folder of another user: the folder above may be everybody's.
void make_set_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error)
    throw Error(ErrorKind::environment,
                "cannot create the folder " + printable(folder.string()) + ": " + error.message(),
                "set the parameter 'directory' to another folder");
  make_own_folder(folder);
}

}  // namespace

Json DataSetWish::to_json() const {
  Json json = {
      {"version", kVersion}, {"format", kFormats.name(format)}, {"bytes", bytes}, {"seed", seed}};
  const bool images =
      format == Format::jpeg_folder || format == Format::tar || format == Format::records;
  if (!pictures.empty())
    json["pictures"] = {pictures, quality};
  else if (images)
    json["image"] = {image.width, image.height, quality};
  if (format == Format::raw) json["sample_bytes"] = sample_bytes;
  return json;
}

MadeDataSet make_data_set(const std::filesystem::path& folder, const DataSetWish& wish) {
  const Json wanted = wish.to_json();
  const auto hash = std::hash<std::string>{}(dump(wanted));
  MadeDataSet set;
  set.folder = folder / fmt::format("{}-{:016x}", kFormats.name(wish.format), hash);
  const auto description = set.folder / kDescription;
  make_set_folder(set.folder);
  if (std::filesystem::exists(description)) {
    const Json there = read_json(description);
    if (there.value("wish", Json()) == wanted) {
      set.bytes = there.at("bytes").get<std::uint64_t>();
      set.samples = there.at("samples").get<std::uint64_t>();
      return set;
    }
  }
  std::error_code ignored;  // if a file stays, writing it reports why
  for (const auto& entry : std::filesystem::directory_iterator(set.folder, ignored))
    std::filesystem::remove_all(entry.path(), ignored);
  check_room(set.folder, wish.bytes);
  const Written written = write_files(set.folder, wish);
  to_disk(set.folder);
  set.bytes = written.bytes;
  set.samples = written.samples;
  set.made = true;
  replace_file(description,
               dump({{"wish", wanted}, {"bytes", set.bytes}, {"samples", set.samples}}) + "\n");
  return set;
}

}  // namespace bench::data
