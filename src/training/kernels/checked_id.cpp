#include "training/kernels/checked_id.h"

#include "core/error.h"

namespace bench::training {

void refuse_id(std::int64_t row, std::int64_t id, std::int64_t rows) {
  throw Error(ErrorKind::input,
              "ID " + std::to_string(id) + " in row " + std::to_string(row) +
                  " is outside the table of " + std::to_string(rows) + " rows",
              "use the same vocabulary for the data source and the model");
}

}  // namespace bench::training
