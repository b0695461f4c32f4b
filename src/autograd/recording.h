// autograd: fills the tables (History, WithHistory) through which tensor/ and dispatch/ call autograd.
#pragma once
#include "dispatch/differentiate.h"

namespace tenon::recording {

Tensor elementwise(Op op, Args args, int count);
Tensor& inplace(Op op, Tensor& self, Args args, int count);
Tensor reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
Tensor clone(const Tensor& self, MemoryFormat format);
Tensor to(const Tensor& self, Dtype dtype, MemoryFormat format);
void copy(Tensor& self, const Tensor& src);
void fill_number(Tensor& self, Scalar value);
void fill(Tensor& self, const Tensor& value);
void zero(Tensor& self);
void draw(DrawnBy by, const Tensor& result, Args args, int count);
void draw_inplace(DrawnBy by, Tensor& self, const Arg* p, const std::function<void()>& write);
Tensor index(const Indexed& indexed);
void index_put(const Indexed& indexed, const Tensor& value, Put put);
List<Tensor> call(Op op, const Value* values);
void call_inplace(Op op, const Value* values);
void check_out(Op op, const Tensor& out, Args args, int count);
void check_named_out(const char* name, const Tensor& out, Args args, int count);
void check(Op op, const Tensor* out, const Tensor* self, Args args, int count);
void check_resizable(const Tensor& self, SizesView sizes);

bool requires_grad(const TensorImpl* impl) noexcept;
bool is_leaf(const Tensor& tensor);
void destroy(TensorImpl* impl) noexcept;
void add_former_view(TensorImpl* base, Storage* storage) noexcept;
void drop_former_view(TensorImpl* base, Storage* storage) noexcept;
void record_view(const Tensor& self, const Tensor& view, const ViewCall& call);
void take_layout(const Tensor& self, const Tensor& view);

/// Puts autograd's functions into the tables.
void fill_tables() noexcept;
extern constinit std::atomic<bool> tables_are_filled;
/// Call before a tensor gets its first history, or is made in inference mode.
inline void begin() noexcept {
  if (!tables_are_filled.load(std::memory_order_acquire)) [[unlikely]]
    fill_tables();
}

}  // namespace tenon::recording
