#include <fmt/format.h>

#include <cstring>

#include "probes/data/formats/record_file.h"
#include "probes/data/formats/tar_members.h"
#include "probes/data/generate/writers.h"
#include "probes/training/sources/random.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kShardBytes = std::uint64_t{64} << 20;  // at which a shard is full

std::vector<std::byte> random_payload(const DataSetWish& wish, std::uint64_t index) {
  const training::RandomStream stream = training::random_stream(wish.seed, index);
  std::vector<std::byte> bytes((wish.sample_bytes + 7) / 8 * 8);
  for (std::size_t i = 0; i < bytes.size() / 8; ++i) {
    const std::uint64_t word = stream.bits(i);
    std::memcpy(bytes.data() + 8 * i, &word, sizeof(word));
  }
  bytes.resize(wish.sample_bytes);
  return bytes;
}

std::vector<std::byte> payload(const DataSetWish& wish, std::uint64_t index) {
  return wish.format == Format::raw ? random_payload(wish, index) : make_jpeg(wish, index);
}

void write_member(FileWriter& tar, const std::string& name, std::span<const std::byte> bytes) {
  tar.write(tar_header(name, bytes.size()));
  tar.write(bytes);
  const std::vector<std::byte> rest((kTarBlock - bytes.size() % kTarBlock) % kTarBlock);
  tar.write(rest);
}

void write_records(const std::filesystem::path& path,
                   const std::vector<std::vector<std::byte>>& payloads, std::uint64_t first) {
  std::vector<std::uint64_t> sizes;
  for (const auto& one : payloads) sizes.push_back(one.size());
  FileWriter file(path);
  file.write(record_head(sizes));
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const std::int64_t label = class_of(first + i);
    file.write(std::as_bytes(std::span(&label, 1)));
    file.write(payloads[i]);
  }
}

}  // namespace

Written write_image_folder(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  while (!written.enough(wish)) {
    const std::uint64_t i = written.samples;
    const auto of_class = folder / fmt::format("class_{}", class_of(i));
    std::filesystem::create_directories(of_class);
    const auto jpeg = make_jpeg(wish, i);
    FileWriter file(of_class / fmt::format("{:08}.jpg", i));
    file.write(jpeg);
    written.add(jpeg.size());
  }
  return written;
}

Written write_tar_shards(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  for (int shard = 0; !written.enough(wish); ++shard) {
    FileWriter tar(folder / fmt::format("shard-{:06}.tar", shard));
    while (!written.enough(wish) && tar.bytes() < kShardBytes) {
      const std::uint64_t i = written.samples;
      const auto jpeg = make_jpeg(wish, i);
      const std::string label = std::to_string(class_of(i));
      write_member(tar, fmt::format("{:08}.jpg", i), jpeg);
      write_member(tar, fmt::format("{:08}.cls", i), std::as_bytes(std::span(label)));
      written.add(jpeg.size());
    }
    tar.write(std::vector<std::byte>(2 * kTarBlock));
  }
  return written;
}

Written write_record_files(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  for (int shard = 0; !written.enough(wish); ++shard) {
    std::vector<std::vector<std::byte>> payloads;
    const std::uint64_t first = written.samples;
    std::uint64_t size = 0;
    while (!written.enough(wish) && size < kShardBytes) {
      payloads.push_back(payload(wish, written.samples));
      size += payloads.back().size();
      written.add(payloads.back().size());
    }
    write_records(folder / fmt::format("shard-{:06}.records", shard), payloads, first);
  }
  return written;
}

}  // namespace bench::data
