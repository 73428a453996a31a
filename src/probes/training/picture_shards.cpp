#include "probes/training/picture_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/formats/blob_source.h"

namespace bench {
namespace {

using training::Split;

/// What a thread needs to decode, kept for the next one.
struct Decoding {
  data::JpegDecoder decoder;
  std::vector<std::byte> bytes;
};

class Decodings {
 public:
  std::unique_ptr<Decoding> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Decoding>();
    auto one = std::move(idle_.back());
    idle_.pop_back();
    return one;
  }
  void give_back(std::unique_ptr<Decoding> one) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Decoding>> idle_;
};

class PictureShards final : public training::PictureSource {
 public:
  explicit PictureShards(const training::DataChoice& data)
      : train_(data::open_tar_shards(data.train)) {
    if (const std::string why = data::no_jpeg(); !why.empty())
      throw Error(ErrorKind::environment, why, "install libjpeg-turbo and build again");
    if (!data.evaluation.empty()) evaluation_ = data::open_tar_shards(data.evaluation);
    count_classes(*train_);
    if (evaluation_) count_classes(*evaluation_);
  }

  int classes() const override { return classes_; }
  std::optional<std::uint64_t> size(Split split) const override {
    return split == Split::train ? train_->size() : evaluation_ ? evaluation_->size() : 0;
  }
  bool has_oracle() const override { return all_known_; }
  training::PictureLabels labels(Split split, std::uint64_t index) const override {
    const data::BlobSource& shards = of(split);
    training::PictureLabels labels{static_cast<int>(shards.label(index)), {}};
    if (const auto truth = shards.truth(index)) labels.truth = static_cast<int>(*truth);
    return labels;
  }
  void read(Split split, std::uint64_t index, const training::PlaceOfCrop& place,
            training::PictureBuffer& part) const override {
    const data::BlobSource& shards = of(split);
    auto decoding = decodings_.take();
    shards.read(index, decoding->bytes);
    const training::Region region =
        place(decoding->decoder.open(decoding->bytes, shards.name(index)));
    const training::Picture picture = decoding->decoder.decode(region);
    part.resize(region);
    const std::size_t row = std::size_t{4} * static_cast<std::size_t>(region.width);
    for (int y = 0; y < region.height; ++y)
      std::memcpy(part.pixels.data() + static_cast<std::size_t>(y) * row, picture.row(y), row);
    decodings_.give_back(std::move(decoding));
  }

 private:
  const data::BlobSource& of(Split split) const {
    return split == Split::train ? *train_ : *evaluation_;
  }
  void count_classes(const data::BlobSource& shards) {
    constexpr std::int64_t kMost = 1 << 24;
    const auto count = [&](std::uint64_t index, const char* what, std::int64_t number) {
      if (number < 0 || number >= kMost)
        throw Error(ErrorKind::input,
                    fmt::format("{} has the {} {}", printable(shards.name(index)), what, number),
                    "number classes from 0 on");
      classes_ = std::max(classes_, static_cast<int>(number) + 1);
    };
    for (std::uint64_t index = 0; index < shards.size(); ++index) {
      count(index, "label", shards.label(index));
      const auto truth = shards.truth(index);
      if (truth) count(index, "true class", *truth);
      all_known_ = all_known_ && truth.has_value();
    }
  }

  std::unique_ptr<data::BlobSource> train_, evaluation_;
  int classes_ = 0;
  bool all_known_ = true;
  mutable Decodings decodings_;
};

}  // namespace

std::unique_ptr<training::PictureSource> open_picture_shards(const training::DataChoice& data) {
  return std::make_unique<PictureShards>(data);
}

}  // namespace bench
