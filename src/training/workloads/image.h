// Training of image classifiers on pictures whose labels are wrong with a known probability
// (pictures/drawn_pictures.h), drawn or from files. Quality is the gap between the model's top-1
// accuracy and that of the pictures' true classes against the same labels. The seed draws initial
// weights, training pictures and their crops; the law and the evaluation pictures are the same for
// all seeds.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "training/models/image.h"
#include "training/pictures/drawn_pictures.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/image.h is trained.
struct ImageSetting {
  ClassifierShape shape = {};
  PictureLaw law = {};      // except the seed; law.inner is also the evaluation's crop
  double least_area = 0.5;  // of a random crop, as a share of the picture
  Recipe recipe = {};
  std::variant<SgdOptions, AdamwOptions> optimizer = {};

  PictureLaw pictures(std::uint64_t seed) const;
};
/// Throws Error(input) as image_preset() does.
ImageSetting image_setting(const std::string& preset);

/// Throws Error(input) for an unknown preset, listing those of models/image.h, for vocabulary and
/// table_rows in `data`, for files without DataChoice::open_pictures, and for files with labels
/// beyond the preset's classes. Throws as FiniteOrder does for `data.samples`.
std::unique_ptr<Workload> make_image_workload(const std::string& preset, std::uint64_t seed,
                                              const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_image_workload(const std::string& preset,
                                              const ImageSetting& setting, std::uint64_t seed,
                                              const DataChoice& data = {});

}  // namespace bench::training
