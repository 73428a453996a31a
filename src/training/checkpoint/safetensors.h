// Weights of a model in the format of safetensors, which other tools read:
//
//   offset 0   u64 bytes of the header, little-endian, a multiple of 8
//          8   header, JSON padded with spaces: {"__metadata__": {name: text, ...}, tensor:
//              {"dtype": "BF16", "shape": [...], "data_offsets": [begin, end]}, ...}
//   the elements of all tensors, row-major, without gaps, at their offsets from the header's end
//
// Source: github.com/huggingface/safetensors. Files are untrusted: everything is checked before
// use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace bench::training {

struct SafetensorsInput {
  std::string name;
  std::vector<std::int64_t> shape;
  std::function<void(std::span<float>)> values;  // writes all elements, row-major
};

struct WrittenSafetensors {
  std::uint64_t bytes = 0;  // of the file
  std::string sha256 = {};  // of the file
};

/// Writes `path` atomically, one tensor at a time in memory (in f32), with elements of `dtype`
/// (f32, bf16, f16; rounded to nearest even). Names must differ. Throws Error(environment);
/// Error(input) for another type, and for a value that is not finite in it, naming the tensor.
WrittenSafetensors write_safetensors(const std::filesystem::path& path,
                                     const std::vector<SafetensorsInput>& tensors, Dtype dtype,
                                     const std::map<std::string, std::string>& metadata);

class SafetensorsFile {
 public:
  struct Tensor {
    std::string type;  // as the file names it: "F32", "I64", ...
    std::vector<std::int64_t> shape;
    std::uint64_t offset = 0, bytes = 0;  // in the file
    std::int64_t elements = 0;
  };

  /// `bytes` must outlive this; `name` is for errors. Throws Error(input), naming file and tensor,
  /// for a file that is truncated, has a damaged header, or tensors that overlap, leave gaps or do
  /// not fill the file.
  SafetensorsFile(std::span<const std::byte> bytes, std::string name);

  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Throws Error(input) if there is no tensor of this name, with so many elements, of type F32,
  /// BF16 or F16.
  void read(const std::string& tensor, std::span<float> values) const;

 private:
  void check_offsets(std::uint64_t begin) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  std::map<std::string, Tensor> tensors_ = {};
  std::map<std::string, std::string> metadata_ = {};
};

}  // namespace bench::training
