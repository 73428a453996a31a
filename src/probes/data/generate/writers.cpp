#include "probes/data/generate/writers.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/criteo_rows.h"
#include "probes/data/formats/record_file.h"
#include "probes/data/formats/tar_members.h"
#include "training/pictures/drawn_pictures.h"
#include "training/sources/random.h"
#include "training/workloads/image.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kTokensOfShard = 100'000'000;
constexpr std::uint32_t kTokenMagic = 20240520, kVocabulary = 50257;  // GPT-2's, by llm.c
constexpr std::size_t kPiece = 1u << 16;                              // elements written at once

struct GeneratedRow {
  CriteoRow row;
  std::uint64_t missing = 0;  // bit i: field i of the 13 and 26 is missing, and reads as 0
};

/// Small counts, categories of eight digits, one field in twenty missing.
GeneratedRow row_of(std::uint64_t seed, std::uint64_t index) {
  const training::RandomStream stream = training::random_stream(seed, index);
  GeneratedRow made;
  made.row.label = stream.bits32(0) % 4 == 0 ? 1 : 0;
  std::uint64_t field = 0;
  const auto missing = [&] {
    const bool is = stream.bits32(100 + field) % 20 == 0;
    if (is) made.missing |= std::uint64_t{1} << field;
    ++field;
    return is;
  };
  for (std::int32_t& integer : made.row.integers) {
    const std::uint32_t bits = stream.bits32(1 + field);
    if (!missing()) integer = static_cast<std::int32_t>((bits >> 8) >> (8 + bits % 16));
  }
  for (std::uint32_t& word : made.row.words) {
    const std::uint32_t bits = stream.bits32(1 + field);
    if (!missing()) word = bits;
  }
  return made;
}

void append_line(std::string& text, const GeneratedRow& made) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text.push_back(made.row.label == 1 ? '1' : '0');
  std::uint64_t field = 0;
  const auto there = [&] { return (made.missing >> field++ & 1) == 0; };
  for (const std::int32_t integer : made.row.integers) {
    text.push_back('\t');
    if (there()) fmt::format_to(std::back_inserter(text), "{}", integer);
  }
  for (const std::uint32_t word : made.row.words) {
    text.push_back('\t');
    if (!there()) continue;
    for (int shift = 28; shift >= 0; shift -= 4) text.push_back(kDigits[word >> shift & 15]);
  }
  text.push_back('\n');
}

}  // namespace

FileWriter::FileWriter(const std::filesystem::path& path)
    : path_(printable(path.string())),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw_errno("create " + path_);
}

void FileWriter::write(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!write_all(file_.get(), text)) throw_errno("write " + path_);
  bytes_ += bytes.size();
}

Written write_tokens(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  std::uint64_t left = std::max<std::uint64_t>(wish.bytes / sizeof(std::uint16_t), 4096);
  for (int shard = 0; left > 0; ++shard) {
    const std::uint64_t count = std::min(left, kTokensOfShard);
    const auto stream = training::random_stream(wish.seed, static_cast<std::uint64_t>(shard));
    FileWriter file(folder / fmt::format("tokens_{:06}.bin", shard));
    std::array<std::uint32_t, 256> head{kTokenMagic, 1, static_cast<std::uint32_t>(count)};
    file.write(std::as_bytes(std::span(head)));
    std::vector<std::uint16_t> tokens;
    for (std::uint64_t at = 0; at < count; at += tokens.size()) {
      tokens.resize(std::min<std::uint64_t>(kPiece, count - at));
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::uint16_t>(training::below(stream.bits32(at + i), kVocabulary));
      file.write(std::as_bytes(std::span(tokens)));
    }
    written.bytes += file.bytes();
    written.samples += count;
    left -= count;
  }
  return written;
}

Written write_criteo_text(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  FileWriter file(folder / "clicks.tsv");
  std::string text;
  while (!written.enough(wish)) {
    const auto before = text.size();
    append_line(text, row_of(wish.seed, written.samples));
    written.add(text.size() - before);
    if (text.size() < kPiece) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  return written;
}

Written write_criteo_binary(const std::filesystem::path& folder, const DataSetWish& wish) {
  Written written;
  FileWriter file(folder / "clicks.bin");
  std::vector<CriteoRow> rows;
  while (!written.enough(wish)) {
    rows.push_back(row_of(wish.seed, written.samples).row);
    written.add(sizeof(CriteoRow));
    if (rows.size() < kPiece / sizeof(CriteoRow)) continue;
    file.write(std::as_bytes(std::span(rows)));
    rows.clear();
  }
  file.write(std::as_bytes(std::span(rows)));
  return written;
}

namespace {

constexpr std::uint64_t kShardBytes = std::uint64_t{64} << 20;  // size of a full shard

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

namespace {

/// The pictures of a split until they have so many bytes, at least two.
Written write_split(const std::filesystem::path& folder, const training::DrawnPictures& source,
                    training::Split split, std::uint64_t bytes, int quality) {
  const std::string name = split == training::Split::train ? "train" : "val";
  const int side = source.law().side;
  Written written;
  DataSetWish wish;
  wish.bytes = bytes;
  training::PictureBuffer picture;
  std::vector<std::uint8_t> rgb;
  for (int shard = 0; !written.enough(wish); ++shard) {
    FileWriter tar(folder / fmt::format("{}-{:06}.tar", name, shard));
    while (!written.enough(wish) && tar.bytes() < kShardBytes) {
      const std::uint64_t i = written.samples;
      source.read(
          split, i,
          [side](ImageSize) {
            return Region{0, 0, side, side};
          },
          picture);
      rgb.clear();
      for (std::size_t at = 0; at < picture.pixels.size(); at += 4)
        rgb.insert(rgb.end(), &picture.pixels[at], &picture.pixels[at] + 3);
      const auto jpeg = encode_jpeg(rgb, {side, side}, quality);
      const training::PictureLabels labels = source.labels(split, i);
      const std::uint64_t before = tar.bytes();
      const std::string label = std::to_string(labels.label);
      const std::string truth = std::to_string(labels.truth.value());
      write_member(tar, fmt::format("{:08}.jpg", i), jpeg);
      write_member(tar, fmt::format("{:08}.cls", i), std::as_bytes(std::span(label)));
      write_member(tar, fmt::format("{:08}.truth", i), std::as_bytes(std::span(truth)));
      written.add(tar.bytes() - before);  // headers are more than the JPEG of a tiny picture
    }
    tar.write(std::vector<std::byte>(2 * kTarBlock));
  }
  return written;
}

}  // namespace

Written write_drawn_shards(const std::filesystem::path& folder, const DataSetWish& wish) {
  const training::DrawnPictures source(training::image_setting(wish.pictures).pictures(wish.seed));
  const std::uint64_t for_evaluation = wish.bytes / 8;
  Written all = write_split(folder, source, training::Split::train, wish.bytes - for_evaluation,
                            wish.quality);
  const Written evaluated =
      write_split(folder, source, training::Split::evaluation, for_evaluation, wish.quality);
  all.bytes += evaluated.bytes;
  all.samples += evaluated.samples;
  return all;
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

namespace {

constexpr int kShapes = 12;
constexpr int kNoise = 76;  // out of 256; tuned for 4.7 bits per pixel at quality 90

struct Ellipse {
  int x, y, width, height;
  std::array<int, 3> colour;

  bool has(int px, int py) const {
    const std::int64_t dx = px - x, dy = py - y;
    const std::int64_t w = width, h = height;
    return dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
  }
};

int draw(training::RandomStream stream, std::uint64_t index, int below) {
  return static_cast<int>(training::below(stream.bits32(index), static_cast<std::uint32_t>(below)));
}

std::array<Ellipse, kShapes> shapes_of(training::RandomStream stream, ImageSize size) {
  std::array<Ellipse, kShapes> shapes{};
  std::uint64_t next = 0;
  for (Ellipse& shape : shapes) {
    shape.x = draw(stream, next++, size.width);
    shape.y = draw(stream, next++, size.height);
    shape.width = 4 + draw(stream, next++, size.width / 3 + 1);
    shape.height = 4 + draw(stream, next++, size.height / 3 + 1);
    for (int& value : shape.colour) value = draw(stream, next++, 256);
  }
  return shapes;
}

}  // namespace

std::int64_t class_of(std::uint64_t index) { return static_cast<std::int64_t>(index % 10); }

std::vector<std::byte> make_jpeg(const DataSetWish& wish, std::uint64_t index) {
  const training::RandomStream stream = training::random_stream(wish.seed, index);
  const ImageSize size = wish.image;
  const auto shapes = shapes_of(stream, size);
  const std::uint64_t noise = random_bits(stream.key, 1u << 20);
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(3 * size.width * size.height));
  std::uint64_t pixel = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x, ++pixel) {
      std::array<int, 3> colour = {255 * x / size.width, 255 * y / size.height, 128};
      for (const Ellipse& shape : shapes)
        if (shape.has(x, y)) colour = shape.colour;
      const std::uint64_t bits = random_bits(noise, pixel);
      // The sum of two bytes has a triangular distribution. Most of the noise is common to all
      // colours, as in sensors.
      const int grey = static_cast<int>((bits & 255) + (bits >> 8 & 255)) - 255;
      for (int c = 0; c < 3; ++c) {
        const int own = static_cast<int>(bits >> (16 + 8 * c) & 255) - 128;
        const int value = colour.at(static_cast<std::size_t>(c)) + (3 * grey + own) * kNoise / 1024;
        rgb.push_back(static_cast<std::uint8_t>(std::clamp(value, 0, 255)));
      }
    }
  return encode_jpeg(rgb, size, wish.quality);
}

}  // namespace bench::data
