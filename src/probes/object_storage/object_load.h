// Stores, reads, lists and removes objects for some time: by several threads, each with its own
// connection and its own objects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/units.h"
#include "probes/object_storage/object_store.h"
#include "probes/storage/load_result.h"

namespace bench::object_storage {

/// put and get: a whole object; range_get: a part of one; head: its size; list: a page of the
/// thread's objects; remove: an object.
enum class Operation { put, get, range_get, head, list, remove };
inline constexpr NameTable<Operation, 6> kOperations{{{{Operation::put, "put"},
                                                       {Operation::get, "get"},
                                                       {Operation::range_get, "range_get"},
                                                       {Operation::head, "head"},
                                                       {Operation::list, "list"},
                                                       {Operation::remove, "delete"}}}};

/// Whether it moves the content of objects.
constexpr bool moves_bytes(Operation operation) {
  return operation == Operation::put || operation == Operation::get ||
         operation == Operation::range_get;
}
constexpr bool reads_bytes(Operation operation) {
  return moves_bytes(operation) && operation != Operation::put;
}

struct ObjectLoadRequest {
  StoreSetting store;
  std::string folder = {};         // of the keys, with its '/' at the end
  std::uint64_t object_bytes = 0;  // both multiples of storage::kBlockBytes
  std::uint64_t range_bytes = 0;
  std::uint64_t size_bytes = 0;  // the most that is stored at once
  int threads = 1;
  Seconds duration = {5.0};
  Seconds slice = {0.25};
  std::uint64_t seed = 1;

  /// What an operation counts for: its bytes, or 1 where it moves none.
  double amount(Operation operation) const;
};

struct ObjectLoadResult {
  /// Amounts of operations. An operation counts when it was acknowledged, and then in the slices of
  /// the time that it took: single ones may be longer than a slice.
  storage::LoadResult load;
  storage::LatencyHistogram first_byte = {};  // of the answer, of operations that read
  double retries = 0.0;
};

class ObjectLoad {
 public:
  /// Connects. Throws Error(environment), and Error(input) if the size is less than one object for
  /// each thread.
  explicit ObjectLoad(const ObjectLoadRequest& request);
  /// Removes the objects, as far as the store lets it.
  ~ObjectLoad();
  ObjectLoad(const ObjectLoad&) = delete;
  ObjectLoad& operator=(const ObjectLoad&) = delete;

  /// For the duration, or until a put has stored the whole size. A remove takes as long as it
  /// takes, and ends the load; the others need a put before. Throws the Error(environment) of a
  /// thread that failed, also if a list lacks an object.
  ObjectLoadResult run(Operation operation);

  /// Removes what is left of the objects. Throws Error(environment).
  void clear();

 private:
  class Worker;
  ObjectLoadRequest request_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace bench::object_storage
