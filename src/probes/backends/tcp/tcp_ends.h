// The two kinds of ends that a group over TCP has: rank 0 in the centre and the others around it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "probes/backends/tcp/rendezvous.h"
#include "probes/group.h"

namespace bench {

using Combine = double (*)(double, double);
double larger(double a, double b);  // NaN when one of them is
double added(double a, double b);

std::string as_text(std::span<const std::byte> data);

/// What both ends have in common.
class TcpGroup : public Group {
 public:
  TcpGroup(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void max(std::span<double> values) override { reduce(values, larger); }
  void sum(std::span<double> values) override { reduce(values, added); }
  std::string library() const override { return "TCP"; }

 protected:
  virtual void reduce(std::span<double> values, Combine combine) = 0;

 private:
  int rank_, size_;
};

std::unique_ptr<Group> make_non_root(const Rendezvous& rendezvous);

}  // namespace bench
