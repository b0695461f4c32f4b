#include "dispatch/differentiate.h"

#include "dispatch/algorithm.h"

namespace tenon {
namespace {

constexpr WithHistory kPlain{
    .elementwise = run_elementwise,
    .inplace = run_inplace,
    .reduce = run_reduce,
    .clone = run_clone,
    .to = run_to,
    .copy = [](Tensor& self, const Tensor& src) { run_copy(self, src); },
    .fill_number = [](Tensor& self, Scalar value) { run_fill(self, value); },
    .fill = [](Tensor& self, const Tensor& value) { run_fill(self, value); },
    .zero = [](Tensor& self) { run_fill(self, 0); },
    .draw = [](DrawnBy, const Tensor&, Args, int) {},
    .draw_inplace = [](DrawnBy, Tensor&, const Arg*, const std::function<void()>& write) { write(); },
    .index = run_index,
    .index_put = run_index_put,
    .call = [](Op op, const Value* values) { return algorithm_of(op).run(values); },
    .call_inplace = [](Op op, const Value* values) { algorithm_of(op).inplace(values); },
    .check_out = [](Op, const Tensor&, Args, int) {},
    .check_named_out = [](const char*, const Tensor&, Args, int) {},
    .check = [](Op, const Tensor*, const Tensor*, Args, int) {},
    .check_resizable = [](const Tensor&, SizesView) {},
};

}  // namespace

void fail_unseen() { throw Error("this call writes to a part of a tensor, which can't be traced"); }

constinit std::atomic<const WithHistory*> with_history_table{&kPlain};

}  // namespace tenon
