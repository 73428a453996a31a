#include "training/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/sha256.h"
#include "core/text.h"
#include "training/checkpoint/atomic_file.h"
#include "training/kernels/functors/portable.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are written in native byte order");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kHeaderAlignment = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // as in the reference implementation
constexpr std::int64_t kMostTensorElements = std::int64_t{1} << 48;
constexpr const char* kMetadata = "__metadata__";

struct StoredType {
  std::string_view name;
  std::uint64_t bits;
};
constexpr std::array kStoredTypes = {
    StoredType{"F64", 64},  StoredType{"F32", 32},    StoredType{"F16", 16},
    StoredType{"BF16", 16}, StoredType{"I64", 64},    StoredType{"I32", 32},
    StoredType{"I16", 16},  StoredType{"I8", 8},      StoredType{"U64", 64},
    StoredType{"U32", 32},  StoredType{"U16", 16},    StoredType{"U8", 8},
    StoredType{"BOOL", 8},  StoredType{"F8_E4M3", 8}, StoredType{"F8_E5M2", 8}};

std::string stored_name(Dtype dtype) {
  if (dtype == Dtype::f32) return "F32";
  if (dtype == Dtype::bf16) return "BF16";
  if (dtype == Dtype::f16) return "F16";
  throw Error(ErrorKind::input, "weights cannot be exported as " + std::string(to_string(dtype)),
              "use f32, bf16 or f16");
}

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t length : shape) elements *= length;
  return elements;
}

std::string safetensors_header(const std::vector<SafetensorsInput>& tensors, Dtype dtype,
                               const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json[kMetadata] = metadata;
  std::uint64_t offset = 0;
  for (const SafetensorsInput& one : tensors) {
    const std::uint64_t end =
        offset + static_cast<std::uint64_t>(elements_of(one.shape)) * size_of(dtype);
    json[one.name] = {
        {"dtype", stored_name(dtype)}, {"shape", one.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string header = dump(json);
  header.resize((header.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  return header;
}

template <class T>
void store_as(std::span<const float> values, std::vector<std::byte>& bytes) {
  bytes.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T stored(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
  }
}

void store(std::span<const float> values, Dtype dtype, std::vector<std::byte>& bytes) {
  if (dtype == Dtype::f32) return store_as<float>(values, bytes);
  if (dtype == Dtype::bf16) return store_as<Bf16>(values, bytes);
  store_as<F16>(values, bytes);
}

/// Refuses the first value that is not finite, or would not be in this type.
void check_values(const SafetensorsInput& tensor, std::span<const float> values, Dtype dtype) {
  constexpr float kMostF16 = 65519.996f;  // larger ones round to infinity
  const float kMostBf16 = std::bit_cast<float>(0x7f7f7fffu);
  const float most = dtype == Dtype::f16    ? kMostF16
                     : dtype == Dtype::bf16 ? kMostBf16
                                            : std::numeric_limits<float>::max();
  const auto bad =
      std::ranges::find_if(values, [&](float value) { return !(std::abs(value) <= most); });
  if (bad == values.end()) return;
  throw Error(ErrorKind::input,
              fmt::format("element {} of {} is {}, which {} cannot hold", bad - values.begin(),
                          tensor.name, *bad, to_string(dtype)),
              std::isfinite(*bad) ? "export as f32 or bf16" : "the training has diverged");
}

}  // namespace

WrittenSafetensors write_safetensors(const std::filesystem::path& path,
                                     const std::vector<SafetensorsInput>& tensors, Dtype dtype,
                                     const std::map<std::string, std::string>& metadata) {
  const std::string header = safetensors_header(tensors, dtype, metadata);
  AtomicFile file(path);
  Sha256 hash;
  WrittenSafetensors written;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    hash.update(bytes);
    written.bytes += bytes.size();
  };
  const std::uint64_t length = header.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header)));
  constexpr std::size_t kPiece = std::size_t{1} << 20;  // elements
  std::vector<std::byte> bytes;
  for (const SafetensorsInput& one : tensors) {
    std::vector<float> values(static_cast<std::size_t>(elements_of(one.shape)));
    one.values(values);
    check_values(one, values, dtype);
    for (std::size_t at = 0; at < values.size(); at += kPiece) {
      store(std::span(values).subspan(at, std::min(kPiece, values.size() - at)), dtype, bytes);
      write(bytes);
    }
  }
  file.commit();
  written.sha256 = hash.finish();
  return written;
}

namespace {

constexpr const char* kCopyAgain =
    "the file is damaged or not in the format of safetensors: export or copy it again";

[[noreturn]] void refuse_safetensors(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::input, file + ": " + what, kCopyAgain);
}

Json header_of_safetensors(const std::string& text, const std::string& file) try {
  return parse_json(text, file);
} catch (const Error& error) {
  throw Error(ErrorKind::input, error.what(), kCopyAgain);
}

std::uint64_t natural(const Json& value, const std::string& file, const std::string& tensor,
                      const char* key) {
  if (!value.is_number_unsigned())
    refuse_safetensors(
        file, fmt::format("{} of tensor '{}' is {}", key, printable(tensor), excerpt(value)));
  return value.get<std::uint64_t>();
}

std::uint64_t bits_of(const std::string& type, const std::string& file, const std::string& tensor) {
  for (const StoredType& one : kStoredTypes)
    if (one.name == type) return one.bits;
  refuse_safetensors(file, fmt::format("tensor '{}' has the unknown type '{}'", printable(tensor),
                                       printable(type)));
}

/// Dimensions whose product stays below kMostTensorElements.
std::vector<std::int64_t> shape_from(const Json& json, const std::string& file,
                                     const std::string& tensor) {
  constexpr std::size_t kMostDimensions = 8;
  if (!json.is_array() || json.size() > kMostDimensions)
    refuse_safetensors(file,
                       fmt::format("shape of tensor '{}' is {}", printable(tensor), excerpt(json)));
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Json& value : json) {
    const std::uint64_t length = natural(value, file, tensor, "shape");
    if (length > static_cast<std::uint64_t>(kMostTensorElements) ||
        __builtin_mul_overflow(elements, static_cast<std::int64_t>(length), &elements) ||
        elements > kMostTensorElements)
      refuse_safetensors(file, fmt::format("tensor '{}' has too many elements: {}",
                                           printable(tensor), excerpt(json)));
    shape.push_back(static_cast<std::int64_t>(length));
  }
  return shape;
}

SafetensorsFile::Tensor tensor_from(const Json& json, std::uint64_t begin, const std::string& file,
                                    const std::string& name) {
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets") || !json["dtype"].is_string() ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2)
    refuse_safetensors(
        file, fmt::format("tensor '{}' is described by {}", printable(name), excerpt(json)));
  SafetensorsFile::Tensor tensor;
  tensor.type = json["dtype"];
  tensor.shape = shape_from(json["shape"], file, name);
  tensor.elements = elements_of(tensor.shape);
  const std::uint64_t from = natural(json["data_offsets"][0], file, name, "data_offsets");
  const std::uint64_t to = natural(json["data_offsets"][1], file, name, "data_offsets");
  tensor.bytes = static_cast<std::uint64_t>(tensor.elements) * bits_of(tensor.type, file, name) / 8;
  if (to < from || to - from != tensor.bytes)
    refuse_safetensors(
        file, fmt::format("tensor '{}' needs {} bytes, but its offsets are {}", printable(name),
                          tensor.bytes, excerpt(json["data_offsets"])));
  if (from > std::numeric_limits<std::uint64_t>::max() - begin)
    refuse_safetensors(file, fmt::format("tensor '{}' begins at {}", printable(name), from));
  tensor.offset = begin + from;
  return tensor;
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  const ByteReader file(bytes_, name_);
  const auto length = file.number<std::uint64_t>(0);
  if (length > kMostHeaderBytes)
    refuse_safetensors(name_,
                       fmt::format("a header of {} bytes, more than {}", length, kMostHeaderBytes));
  const Json header = header_of_safetensors(file.text(kLengthBytes, length), name_);
  if (!header.is_object())
    refuse_safetensors(name_, "the header is " + excerpt(header) + ", not an object");
  const std::uint64_t begin = kLengthBytes + length;
  for (const auto& [key, value] : header.items()) {
    if (key != kMetadata) {
      tensors_.emplace(key, tensor_from(value, begin, name_, key));
      continue;
    }
    if (!value.is_object())
      refuse_safetensors(name_,
                         std::string(kMetadata) + " is " + excerpt(value) + ", not an object");
    for (const auto& [entry, text] : value.items()) {
      if (!text.is_string())
        refuse_safetensors(
            name_, fmt::format("metadata '{}' is {}, not text", printable(entry), excerpt(text)));
      metadata_[entry] = text;
    }
  }
  check_offsets(begin);
}

void SafetensorsFile::check_offsets(std::uint64_t begin) const {
  std::vector<const std::pair<const std::string, Tensor>*> by_offset;
  for (const auto& one : tensors_) by_offset.push_back(&one);
  std::ranges::sort(by_offset, {}, [](const auto* one) {
    return std::pair(one->second.offset, one->second.bytes);
  });
  std::uint64_t end = begin;
  for (const auto* one : by_offset) {
    if (one->second.offset != end)
      refuse_safetensors(name_, fmt::format("tensor '{}' begins at byte {}, not at {}",
                                            printable(one->first), one->second.offset, end));
    end += one->second.bytes;
    if (end > bytes_.size())
      refuse_safetensors(name_, fmt::format("tensor '{}' ends at byte {} of {}",
                                            printable(one->first), end, bytes_.size()));
  }
  if (end != bytes_.size())
    refuse_safetensors(name_, fmt::format("{} bytes follow the last tensor", bytes_.size() - end));
}

namespace {

template <class T>
void load_as(std::span<const std::byte> from, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T stored;
    std::memcpy(&stored, from.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<float>(stored);
  }
}

}  // namespace

void SafetensorsFile::read(const std::string& tensor, std::span<float> values) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end())
    throw Error(ErrorKind::input, name_ + ": no tensor '" + printable(tensor) + "'",
                "use a file of this model's shape");
  const Tensor& one = found->second;
  if (one.elements != static_cast<std::int64_t>(values.size()))
    throw Error(ErrorKind::input,
                fmt::format("{}: tensor '{}' has {} elements, expected {}", name_,
                            printable(tensor), one.elements, values.size()),
                "use a file of this model's shape");
  const auto bytes = bytes_.subspan(one.offset, one.bytes);
  if (one.type == "F32") return load_as<float>(bytes, values);
  if (one.type == "BF16") return load_as<Bf16>(bytes, values);
  if (one.type == "F16") return load_as<F16>(bytes, values);
  throw Error(
      ErrorKind::input,
      fmt::format("{}: tensor '{}' has elements of type {}", name_, printable(tensor), one.type),
      "use weights of type F32, BF16 or F16");
}

}  // namespace bench::training
