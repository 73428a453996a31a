#include "devices/cuda/library_environment.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("variables that change what NVIDIA's libraries compute are facts, and no others") {
  const char* const set[] = {"NVIDIA_TF32_OVERRIDE=0",
                             "CUBLAS_EMULATE_SINGLE_PRECISION=1",
                             "CUDNN_LOGLEVEL_DBG=3",
                             "NVIDIA_TF32_OVERRIDES=2",
                             "HOME=/root",
                             "CUDA_VISIBLE_DEVICES=1",
                             "CUBLAS",
                             nullptr};
  CHECK(library_environment(set) == Json{{"NVIDIA_TF32_OVERRIDE", "0"},
                                         {"CUBLAS_EMULATE_SINGLE_PRECISION", "1"},
                                         {"CUDNN_LOGLEVEL_DBG", "3"}});
  const char* const none[] = {nullptr};
  CHECK(library_environment(none) == Json::object());
}
