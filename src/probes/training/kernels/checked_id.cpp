#include "probes/training/kernels/checked_id.h"

#include "core/error.h"

namespace bench::training {

void refuse_id(std::int64_t row, std::int64_t id, std::int64_t rows) {
  throw Error(ErrorKind::input,
              "the id " + std::to_string(id) + " in row " + std::to_string(row) +
                  " is not one of a table of " + std::to_string(rows) + " rows",
              "the vocabulary of the source and of the model must agree");
}

}  // namespace bench::training
