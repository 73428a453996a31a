#include "probes/data/pipelines/open_pipeline.h"

#include "core/error.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/folder_listing.h"

namespace bench::data {
namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path,
                                            const std::vector<std::string>& endings) {
  if (std::filesystem::is_regular_file(path)) return {path};
  return files_ending(path, endings);
}

}  // namespace

std::unique_ptr<Pipeline> open_pipeline(Format format, const std::filesystem::path& path,
                                        const PipelineOptions& options) {
  switch (format) {
    case Format::jpeg_folder:
      return image_pipeline(open_image_folder(path), options.images);
    case Format::tar:
      return image_pipeline(open_tar_shards(path), options.images);
    case Format::records:
      return image_pipeline(open_record_files(path), options.images);
    case Format::raw:
      return raw_pipeline(open_record_files(path));
    case Format::tokens:
      return token_pipeline(files_of(path, {".bin"}), options.tokens);
    case Format::criteo_tsv:
      return criteo_text_pipeline(files_of(path, {".tsv", ".txt"}), options.criteo);
    case Format::criteo_binary:
      return criteo_binary_pipeline(files_of(path, {".bin"}), options.criteo);
  }
  throw Error(ErrorKind::internal, "unknown format");
}

}  // namespace bench::data
