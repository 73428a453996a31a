#include "probes/storage/metadata_load.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>

#include "core/descriptor.h"
#include "core/error.h"
#include "devices/host_clock.h"

namespace bench::storage {
namespace {

std::string name_of(std::int64_t file) { return "f" + std::to_string(file); }

void create_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) throw_errno("create " + path);
}

void stat_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_errno("stat " + path);
}

void unlink_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) throw_errno("remove " + path);
}

std::int64_t list_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) throw_errno("list " + path);
  std::int64_t names = 0;
  while (const dirent* entry = ::readdir(folder.get()))
    if (entry->d_name[0] != '.') ++names;
  return names;
}

/// The work of one thread.
struct Piece {
  std::filesystem::path folder;
  std::int64_t files = 0;
  LatencyHistogram latency = {};
  Seconds wall = {};
  std::exception_ptr failure = {};

  void each_file(void (*operation)(const std::string&)) {
    for (std::int64_t i = 0; i < files; ++i) {
      const std::string path = folder / name_of(i);
      const Seconds begin = steady_now();
      operation(path);
      latency.add(steady_now() - begin);
    }
  }
  void list() {
    const Seconds begin = steady_now();
    const std::int64_t found = list_folder(folder);
    latency.add(steady_now() - begin);
    if (found != files)
      throw Error(ErrorKind::environment, folder.string() + " lists " + std::to_string(found) +
                                              " files, expected " + std::to_string(files));
  }
  void run(const std::string& operation) noexcept try {
    const Seconds begin = steady_now();
    if (operation == "create")
      each_file(create_file);
    else if (operation == "stat")
      each_file(stat_file);
    else if (operation == "unlink")
      each_file(unlink_file);
    else
      list();
    wall = steady_now() - begin;
  } catch (...) {
    failure = std::current_exception();
  }
};

}  // namespace

MetadataLoad::MetadataLoad(std::filesystem::path folder, std::int64_t files, int threads)
    : folder_(std::move(folder)), files_(files), threads_(threads) {
  for (int thread = 0; thread < threads_; ++thread) {
    std::error_code failure;
    std::filesystem::create_directories(own_folder(thread), failure);
    if (failure)
      throw Error(ErrorKind::environment,
                  "create the folder " + own_folder(thread).string() + ": " + failure.message());
  }
}

MetadataLoad::~MetadataLoad() {
  std::error_code ignored;
  for (int thread = 0; thread < threads_; ++thread)
    std::filesystem::remove_all(own_folder(thread), ignored);
}

std::filesystem::path MetadataLoad::own_folder(int thread) const {
  return folder_ / ("thread-" + std::to_string(thread));
}

MetadataResult MetadataLoad::run(const std::string& operation) {
  std::vector<Piece> pieces;
  for (int thread = 0; thread < threads_; ++thread) pieces.push_back({own_folder(thread), files_});
  {
    std::vector<std::jthread> threads;
    for (Piece& piece : pieces) threads.emplace_back([&] { piece.run(operation); });
  }
  MetadataResult result;
  result.operation = operation;
  for (const Piece& piece : pieces) {
    if (piece.failure) std::rethrow_exception(piece.failure);
    result.operations += static_cast<double>(piece.files);
    result.wall = std::max(result.wall, piece.wall);
    result.latency.add(piece.latency);
  }
  return result;
}

}  // namespace bench::storage
