// What a job of `data_loader` asks for: the data set, made or found, and the knobs.
#pragma once

#include <memory>

#include "probes/data/loader/loader.h"
#include "probes/data/pipelines/pipeline.h"
#include "probes/state.h"

namespace bench {

struct DataLoaderSetup {
  std::unique_ptr<data::Pipeline> pipeline;
  data::LoaderOptions options = {};
  Seconds time = {};
  int devices = 1;  // a step takes a batch for each
  Json facts = Json::object();
};

/// Opens, and makes where none is given, the data set. Throws Error(input or environment).
DataLoaderSetup data_loader_setup(State& state);

}  // namespace bench
