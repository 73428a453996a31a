// Parts of a step as CUDA graphs: run call by call the first time (kernels are loaded, scratch
// grows, algorithms are tried), recorded the second, launched as one from then on.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "probes/backends/cuda/stream_graph.h"
#include "probes/training/kernels/recorder.h"

namespace bench::training {

class GraphRecorder final : public Recorder {
 public:
  explicit GraphRecorder(cudaStream_t stream) : stream_(stream) {}
  void run(const RecordingKey& key, const std::function<void()>& work) override {
    Piece* piece = find(key);
    if (!piece) {
      work();
      remember(key);
      return;
    }
    if (!piece->graph) piece->graph = std::make_unique<StreamGraph>(stream_, work);
    piece->graph->launch();
  }

 private:
  struct Piece {
    RecordingKey key;
    std::unique_ptr<StreamGraph> graph;
  };

  Piece* find(const RecordingKey& key) {
    for (Piece& piece : pieces_)
      if (piece.key == key) return &piece;
    return nullptr;
  }
  /// A scale that is new each time would fill memory with graphs. A backward pass in as many pieces
  /// as there are buckets has to find them all again.
  void remember(const RecordingKey& key) {
    constexpr std::size_t kMost = 1024;
    if (pieces_.size() == kMost) pieces_.erase(pieces_.begin());
    pieces_.push_back({key, nullptr});
  }

  cudaStream_t stream_;
  std::vector<Piece> pieces_ = {};
};

}  // namespace bench::training
