// How much ranks exchange by each method, and what they keep for it.
#include "training/parallel/exchange_method.h"

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/llm_trainer.h"

namespace bench::training {

TEST_CASE("the tensors of a row are those of the gradients, without overlap") {
  LlmTrainer trainer({});
  std::int64_t elements = 0, end = 0;
  for (const RowTensor& tensor : row_tensors(trainer.plan())) {
    CHECK(tensor.first >= end);
    end = tensor.first + tensor.elements();
    elements += tensor.elements();
  }
  CHECK(elements == trainer.model().graph->trainable_count());
  CHECK(end <= trainer.replica().gradients().elements());
}

TEST_CASE("a method's text names its numbers, and its kind is read back") {
  CHECK(text_of({}).empty());
  CHECK(text_of({.kind = ExchangeKind::topk}) == "topk=0.01");
  CHECK(text_of({.kind = ExchangeKind::powersgd, .rank = 2}) == "powersgd=2");
  CHECK(text_of({.kind = ExchangeKind::local, .local_steps = 8}) == "local=8");
  CHECK(text_of({.kind = ExchangeKind::local, .outer_rate = 1.0, .outer_momentum = 0.0}) ==
        "local=32,rate=1,momentum=0");
  for (const auto kind :
       {ExchangeKind::full, ExchangeKind::topk, ExchangeKind::powersgd, ExchangeKind::local})
    CHECK(exchange_kind_from(to_string(kind)) == kind);
  CHECK_THROWS_WITH(exchange_kind_from("signs"), Catch::Contains("unknown exchange 'signs'"));
}

TEST_CASE("topk sends at least one element of a tensor, and powersgd vectors as they are") {
  const ExchangeMethod topk{.kind = ExchangeKind::topk, .share = 0.01};
  CHECK(sent_elements(topk, 1) == 1);
  CHECK(sent_elements(topk, 100) == 1);
  CHECK(sent_elements(topk, 101) == 2);
  CHECK(sent_elements({.kind = ExchangeKind::topk, .share = 1.0}, 77) == 77);
  const ExchangeMethod factors{.kind = ExchangeKind::powersgd, .rank = 4};
  CHECK(factor_rank(factors, {0, 1, 1000}) == 0);
  CHECK(factor_rank(factors, {0, 8, 8}) == 0);  // 64 elements in either form
  CHECK(factor_rank(factors, {0, 9, 9}) == 4);
  CHECK(factor_rank(factors, {0, 2, 1000}) == 0);
  CHECK(factor_rank(factors, {0, 1000, 1000}) == 4);
}

TEST_CASE("bytes per step are those of indices and values, of factors, or of a period's share") {
  LlmTrainer trainer({});
  const Plan& plan = trainer.plan();
  double pairs = 0.0, factors = 0.0;
  for (const RowTensor& tensor : row_tensors(plan)) {
    pairs += static_cast<double>((tensor.elements() + 99) / 100) * 8.0;
    const bool is_matrix = factor_rank({.kind = ExchangeKind::powersgd, .rank = 4}, tensor) > 0;
    factors += 4.0 * static_cast<double>(is_matrix ? 4 * (tensor.rows + tensor.columns)
                                                   : tensor.elements());
  }
  const double all = 4.0 * static_cast<double>(trainer.model().graph->trainable_count());
  CHECK(exchanged_bytes({}, plan) == all);
  CHECK(exchanged_bytes({.kind = ExchangeKind::topk}, plan) == pairs);
  CHECK(exchanged_bytes({.kind = ExchangeKind::powersgd}, plan) == factors);
  CHECK(exchanged_bytes({.kind = ExchangeKind::local, .local_steps = 16}, plan) == all / 16.0);
  CHECK(kept_bytes({.kind = ExchangeKind::topk}, 10, Dtype::f32) == 40);
  CHECK(kept_bytes({.kind = ExchangeKind::local}, 10, Dtype::f64) == 160);
  CHECK(kept_bytes({}, 10, Dtype::f32) == 0);
}

}  // namespace bench::training
