#include "probes/data/loader/data_loader_setup.h"

#include <algorithm>

#include "core/error.h"
#include "core/private_folder.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/generate/data_set.h"
#include "probes/data/pipelines/open_pipeline.h"
#include "probes/storage/file_system_facts.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kSyntheticSamples = std::uint64_t{1} << 20;
constexpr std::uint64_t kTimesMemory =
    5;  // MLPerf Storage's rule for a set that does not fit in a cache

std::filesystem::path folder_of(const State& state) {
  const std::string given = state.text("directory");
  return given.empty() ? private_temporary_folder() / "data" : std::filesystem::path(given);
}

/// Memory of this host, bytes; 0 if the kernel does not report it.
std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(storage::total_memory().value_or(0.0));
}

std::uint64_t wished_bytes(const State& state, const std::filesystem::path& folder) {
  const auto asked = static_cast<std::uint64_t>(state.integer("dataset_bytes"));
  if (asked > 0) return asked;
  std::filesystem::create_directories(folder);
  const std::uint64_t half = std::filesystem::space(folder).available / 2;
  const std::uint64_t memory = memory_bytes();
  return memory == 0 ? half : std::min(half, kTimesMemory * memory);
}

PipelineOptions pipeline_options(const State& state) {
  PipelineOptions options;
  options.images.size = static_cast<int>(state.integer("output_size"));
  options.images.partial_decode = state.flag("partial_decode");
  options.images.bytes = state.text("output") == "u8";
  options.images.seed = options.tokens.seed = state.job().seed;
  options.tokens.targets = static_cast<int>(state.integer("sequence"));
  options.tokens.random_windows = state.flag("random_windows");
  options.criteo.transform = state.flag("transform");
  return options;
}

LoaderOptions loader_options(const State& state) {
  LoaderOptions options;
  options.num_workers = static_cast<int>(state.integer("num_workers"));
  options.prefetch_factor = static_cast<int>(state.integer("prefetch_factor"));
  options.pin_memory = state.flag("pin_memory");
  options.persistent_workers = state.flag("persistent_workers");
  options.in_order = state.flag("in_order");
  options.batch_size = static_cast<std::uint64_t>(state.integer("batch_size"));
  options.dispatch = kDispatches.value(state.text("dispatch"), "way of dispatch");
  options.shuffle = state.flag("shuffle");
  options.seed = state.job().seed;
  return options;
}

/// The path of the data, which are generated unless the parameter names some.
std::filesystem::path find_data(const State& state, Format format, Json& facts) {
  if (const std::string given = state.text("data"); !given.empty()) {
    facts["data"] = given;
    return given;
  }
  DataSetWish wish;
  wish.format = format;
  const auto size = state.list<int>("image_size");
  wish.image = {size.at(0), size.at(1)};
  if (format == Format::tar) wish.pictures = state.text("pictures");
  wish.sample_bytes = static_cast<std::uint64_t>(state.integer("sample_bytes"));
  const auto folder = folder_of(state);
  wish.bytes = wished_bytes(state, folder);
  const MadeDataSet set = make_data_set(folder, wish);
  facts["data"] = set.folder.string();
  facts["made"] = wish.to_json();
  facts["dataset_bytes"] = set.bytes;
  return set.folder;
}

}  // namespace

DataLoaderSetup data_loader_setup(State& state) {
  DataLoaderSetup setup;
  setup.state = &state;
  setup.options = loader_options(state);
  setup.options.copies = state.device().copies();
  setup.time = {state.number("time_s")};
  setup.devices = static_cast<int>(state.integer("gpus_per_node"));
  const std::string name = state.text("pipeline");
  setup.facts = {{"pipeline", name}, {"decoder", jpeg_library()}, {"memory_bytes", memory_bytes()}};
  if (name == "synthetic") {
    setup.pipeline = synthetic_pipeline(kSyntheticSamples,
                                        static_cast<std::size_t>(state.integer("sample_bytes")));
  } else {
    const Format format = kFormats.value(name, "pipeline");
    setup.pipeline =
        open_pipeline(format, find_data(state, format, setup.facts), pipeline_options(state));
  }
  setup.facts["samples"] = setup.pipeline->shape().samples;
  setup.facts["item"] = setup.pipeline->item();
  return setup;
}

}  // namespace bench::data
