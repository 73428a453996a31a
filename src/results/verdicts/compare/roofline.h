// Measured roofline of one machine: the attainable rate of GEMMs and of operators at each
// arithmetic intensity, and how close they come. Williams, Waterman and Patterson 2009: a kernel
// with I operations per byte reaches at most min(peak, I x bandwidth).
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/compare/side.h"

namespace bench {

/// The flat part of a roof.
struct Ceiling {
  std::string dtype;
  double measured = kNoValue;  // operations a second of the fastest GEMM
  double limit = kNoValue;     // the measurement's own limit; none if unknown
};

struct RooflinePoint {
  std::string name;  // "bf16 512 x 512 x 512"
  std::string dtype;
  double intensity = kNoValue;  // operations a byte, each matrix moved once
  double rate = kNoValue;       // operations a second
  double roof = kNoValue;       // min(peak of the dtype, intensity x bandwidth)
  bool by_memory = false;       // which of the two it is
};

/// Of a cache or of memory.
struct LevelBandwidth {
  std::string level;            // "L1", "L3/memory", "memory"
  double bandwidth = kNoValue;  // bytes a second, write-allocate included, of the fastest kernel
  std::string kernel = {};
};

/// An operator of the probe `operators` on all threads.
struct OperatorPoint {
  std::string name;   // "attention backward"
  std::string shape;  // "rows 1024, sequence 512, heads 12, head_dim 64"
  std::string dtype;
  std::string level = {};       // that holds its tensors
  double intensity = kNoValue;  // FLOPs a byte; none for an operator without FLOPs
  double time = kNoValue;       // seconds of a call
  double rate = kNoValue;       // FLOPs a second
  double traffic = kNoValue;    // bytes a second
  double memory = kNoValue;     // bytes of a thread in addition to the inputs
  double of_roof = kNoValue;    // the least time that peak and bandwidth allow / time
  bool by_memory = false;       // which of the two it is
};

struct Roofline {
  std::string name, hardware, device;
  double bandwidth = kNoValue;  // bytes a second, the fastest kernel that reads main memory
  std::string bandwidth_of = {};
  std::vector<Ceiling> ceilings = {};
  std::vector<RooflinePoint> points = {};   // by dtype and intensity
  std::vector<LevelBandwidth> levels = {};  // on the threads of the operators, fastest first
  std::vector<OperatorPoint> operators = {};
  std::string lacking = {};  // why there is no roof
};

/// The metrics that rooflines are made of.
std::vector<std::string> roofline_metrics();

/// From GEMMs, memory kernels and operators of `device` (host, cuda) in a side: medians over units.
/// Only GEMMs with parameters m, n, k and dtype on the largest measured thread count; all-zero
/// matrices, which draw less power, are excluded.
Roofline roofline_of(const Side& side, const std::string& device);

/// Devices with GEMM results on that side.
std::vector<std::string> roofline_devices(const Side& side);

/// Least number of bytes that a GEMM moves: both factors and the result once.
double gemm_bytes(double m, double n, double k, const std::string& dtype);

}  // namespace bench
