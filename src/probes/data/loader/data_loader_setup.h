// The data set and the options of a job of `data_loader`.
#pragma once

#include <memory>

#include "probes/data/loader/loader.h"
#include "probes/data/pipelines/pipeline.h"
#include "probes/state.h"

namespace bench::data {

struct DataLoaderSetup {
  State* state = nullptr;  // whose conditions are judged
  std::unique_ptr<Pipeline> pipeline;
  LoaderOptions options = {};
  Seconds time = {};
  int devices = 1;  // each takes one batch per step
  Json facts = Json::object();
};

/// Opens the data set and generates it if none is given. Throws Error(input or environment).
DataLoaderSetup data_loader_setup(State& state);

}  // namespace bench::data
