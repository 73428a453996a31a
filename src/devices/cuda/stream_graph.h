// Operations of a stream, recorded as a graph that can be launched repeatedly.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "devices/cuda/cuda_error.h"

namespace bench {

class StreamGraph {
 public:
  /// Records what `enqueue` puts on the stream without running it.
  StreamGraph(cudaStream_t stream, const std::function<void()>& enqueue) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture a graph");
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);  // ends the recording
      cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "capture a graph");
    const cudaError_t code = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(code, "instantiate a graph");
  }
  ~StreamGraph() { cudaGraphExecDestroy(graph_); }
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  void launch() { check(cudaGraphLaunch(graph_, stream_), "launch a graph"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace bench
