#include "autograd/recording.h"

namespace tenon::recording {
namespace {

constexpr WithHistory kWithHistory{
    .elementwise = elementwise,
    .inplace = inplace,
    .reduce = reduce,
    .clone = clone,
    .to = to,
    .copy = copy,
    .fill_number = fill_number,
    .fill = fill,
    .zero = zero,
    .draw = draw,
    .draw_inplace = draw_inplace,
    .index = index,
    .index_put = index_put,
    .call = call,
    .call_inplace = call_inplace,
    .check_out = check_out,
    .check_named_out = check_named_out,
    .check = check,
    .check_resizable = check_resizable,
};
constexpr History kHistory{
    .requires_grad = requires_grad,
    .is_leaf = is_leaf,
    .destroy = destroy,
    .add_former_view = add_former_view,
    .drop_former_view = drop_former_view,
    .record_view = record_view,
    .take_layout = take_layout,
};

}  // namespace

constinit std::atomic<bool> tables_are_filled{false};

void fill_tables() noexcept {
  with_history_table.store(&kWithHistory, std::memory_order_release);
  history_table.store(&kHistory, std::memory_order_release);
  tables_are_filled.store(true, std::memory_order_release);
}

}  // namespace tenon::recording
