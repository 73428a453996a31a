// Builds training data files in the formats of other programs.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace bench::training {

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline std::string write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

/// The numbers' bytes, one after another (of a little-endian host, as all of ours are).
template <class Number>
std::string raw(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// As llm.c writes them.
template <class Token>
std::string token_file(std::uint32_t magic, const std::vector<Token>& tokens) {
  std::vector<std::uint32_t> header(256);
  header[0] = magic;
  header[1] = 1;
  header[2] = static_cast<std::uint32_t>(tokens.size());
  return raw(header) + raw(tokens);
}

/// As numpy.save writes them.
inline std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  return "\x93NUMPY" + std::string("\x01\x00", 2) +
         raw<std::uint16_t>({static_cast<std::uint16_t>(header.size())}) + header + data;
}

inline std::string deflated(const std::string& data) {
  std::string packed(data.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct NpzMember {
  std::string name, data;
  bool deflate = false;
};

/// As numpy.savez writes them; `zip64` as it does for large files.
inline std::string npz(const std::vector<NpzMember>& members, bool zip64 = false) {
  std::string file, list;
  const auto u16 = [](std::uint64_t n) {
    return raw<std::uint16_t>({static_cast<std::uint16_t>(n)});
  };
  const auto u32 = [](std::uint64_t n) {
    return raw<std::uint32_t>({static_cast<std::uint32_t>(n)});
  };
  const auto u64 = [](std::uint64_t n) { return raw<std::uint64_t>({n}); };
  for (const auto& [name, data, deflate] : members) {
    const std::string packed = deflate ? deflated(data) : data;
    const std::string full = name + ".npy";
    const std::uint64_t sum =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    const std::uint64_t in64 = 0xffffffff;
    const std::string common = u16(45) + u16(0) + u16(deflate ? 8 : 0) + u32(0) + u32(sum);
    const std::string extra =
        zip64 ? u16(1) + u16(24) + u64(data.size()) + u64(packed.size()) + u64(file.size()) : "";
    list += "PK\x01\x02" + u16(45) + common + u32(zip64 ? in64 : packed.size()) +
            u32(zip64 ? in64 : data.size()) + u16(full.size()) + u16(extra.size()) + u16(0) +
            u16(0) + u16(0) + u32(0) + u32(zip64 ? in64 : file.size()) + full + extra;
    // NumPy says zip64 in each local header, whatever the size.
    file += "PK\x03\x04" + common + u32(in64) + u32(in64) + u16(full.size()) + u16(20) + full +
            u16(1) + u16(16) + u64(data.size()) + u64(packed.size()) + packed;
  }
  const std::uint64_t start = file.size(), count = members.size();
  file += list;
  if (zip64)
    file += "PK\x06\x06" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(count) + u64(count) +
            u64(list.size()) + u64(start) + "PK\x06\x07" + u32(0) + u64(start + list.size()) +
            u32(1);
  return file + "PK\x05\x06" + u16(0) + u16(0) + u16(zip64 ? 0xffff : count) +
         u16(zip64 ? 0xffff : count) + u32(list.size()) + u32(zip64 ? 0xffffffff : start) + u16(0);
}

}  // namespace bench::training
