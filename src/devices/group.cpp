#include "devices/group.h"

#include <algorithm>

#include "core/error.h"
#include "devices/collectives.h"

namespace bench {
namespace {

class SelfGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void max(std::span<double>) override {}
  void sum(std::span<double>) override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  std::unique_ptr<Group> subgroup(int) override { return std::make_unique<SelfGroup>(); }
  std::string library() const override { return "none"; }
};

}  // namespace

std::unique_ptr<Group> make_self_group() { return std::make_unique<SelfGroup>(); }

std::unique_ptr<Group> Group::subgroup(int) {
  throw Error(ErrorKind::environment, "ranks joined by " + library() + " cannot be divided",
              "start the ranks over MPI");
}

std::string broadcast_text(Group& group, const std::string& text) {
  double size = static_cast<double>(text.size());
  group.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  std::string copy = text;
  copy.resize(static_cast<std::size_t>(size));
  group.broadcast(std::as_writable_bytes(std::span(copy)), 0);
  return copy;
}

std::string no_collectives(const Group& group) {
  return "no collective library: the host needs MPI, GPUs need NCCL, and these "
         "ranks were joined by " +
         group.library();
}

std::string agreed(Group& group, const std::string& reason) {
  if (largest(group, reason.empty() ? 0.0 : 1.0) == 0.0) return "";
  std::string first;
  for (const std::string& one : group.gather(reason))
    if (first.empty()) first = one;
  return broadcast_text(group, first);
}

void together(Group& group, const std::function<void()>& work) {
  std::string reason;
  try {
    work();
  } catch (const Error& error) {
    reason = error.text();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  reason = agreed(group, reason);
  if (!reason.empty()) throw Error(ErrorKind::environment, reason);
}

double largest(Group& group, double value) {
  group.max(std::span(&value, 1));
  return value;
}

double least(Group& group, double value) { return -largest(group, -value); }

double total(Group& group, double value) {
  group.sum(std::span(&value, 1));
  return value;
}

std::vector<Json> gather_json(Group& group, const Json& own) {
  std::vector<Json> all;
  for (const std::string& text : group.gather(dump(own)))
    all.push_back(parse_json(text, "JSON of a rank"));
  return all;
}

std::vector<double> gather_numbers(Group& group, const std::vector<double>& own) {
  // All terms but one are zero.
  std::vector<double> all(own.size() * static_cast<std::size_t>(group.size()));
  std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(
                                           own.size() * static_cast<std::size_t>(group.rank())));
  group.sum(all);
  return all;
}

}  // namespace bench
