#include "runner/dispatch/own_record.h"

#include "core/text.h"
#include "runner/hosts/inventory.h"

namespace bench {

Record own_record(const std::string& job, decltype(Record::body) body) {
  return {job, this_host_name(), -1, now_ns(), std::move(body)};
}

}  // namespace bench
