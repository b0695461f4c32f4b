// The C functions: calls by name, error codes, ownership. Every failing call must give its code and leave its results
// null.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tenon/c.h"
#include "tenon/tenon.h"

namespace {

using tenon::Tensor;

/// A handle that releases itself.
class Handle {
 public:
  Handle() = default;
  explicit Handle(tenon_tensor* owned) : tensor_(owned) {}
  Handle(Handle&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~Handle() { tenon_release(tensor_); }
  tenon_tensor* get() const { return tensor_; }
  tenon_tensor** slot() { return &tensor_; }
  operator tenon_value() const { return tenon_of_tensor(tensor_); }

 private:
  tenon_tensor* tensor_ = nullptr;
};

std::string text_of(const tenon_tensor* tensor) {
  std::string text(static_cast<std::size_t>(tenon_to_string(tensor, nullptr, 0)), ' ');
  tenon_to_string(tensor, text.data(), static_cast<int64_t>(text.size()) + 1);
  return text;
}

using Values = std::vector<tenon_value>;

/// The results of a call, which must succeed.
std::vector<Handle> call_all(const char* op, const Values& values) {
  std::array<tenon_tensor*, 8> results{};
  int64_t count = -1;
  const tenon_status status =
      tenon_call(op, values.data(), static_cast<int64_t>(values.size()), results.data(), 8, &count);
  EXPECT_EQ(status, TENON_OK) << op << ": " << (status == TENON_OK ? "" : tenon_error_text());
  std::vector<Handle> handles;
  for (int64_t i = 0; i < count; ++i) handles.emplace_back(results[static_cast<std::size_t>(i)]);
  return handles;
}
Handle call(const char* op, const Values& values) {
  std::vector<Handle> results = call_all(op, values);
  EXPECT_EQ(results.size(), 1u) << op;
  return results.empty() ? Handle() : std::move(results[0]);
}

/// The code of a call, which must fail and leave the result null.
tenon_status code_of(const char* op, const Values& values) {
  tenon_tensor* result = reinterpret_cast<tenon_tensor*>(1);
  const tenon_status status = tenon_call(op, values.data(), static_cast<int64_t>(values.size()), &result, 1, nullptr);
  EXPECT_EQ(result, nullptr) << op;
  EXPECT_EQ(status, tenon_error_code()) << op;
  return status;
}

/// A list of integers, which lives as long as the process.
tenon_value ints(std::vector<int64_t> numbers) {
  static std::deque<std::vector<int64_t>> kept;
  kept.push_back(std::move(numbers));
  return tenon_of_ints(kept.back().data(), static_cast<int64_t>(kept.back().size()));
}

Handle arange(int64_t end, std::vector<int64_t> sizes, tenon_dtype dtype = TENON_FLOAT32) {
  const Handle numbers = call("arange", {tenon_of_int(end), tenon_named("dtype", tenon_of_dtype(dtype))});
  return call("reshape", {numbers, ints(std::move(sizes))});
}

TEST(C, CallsByNameGiveWhatPythonPrints) {
  const Handle x = arange(6, {2, 3}), y = arange(3, {3}), i = arange(6, {2, 3}, TENON_INT64);
  const Handle row = call("unsqueeze", {y, tenon_of_int(0)});
  const std::array<tenon_tensor*, 2> pair{x.get(), x.get()};
  const std::array<double, 2> range{0, 2};
  const struct {
    const char* op;
    Values values;
    const char* want;
  } cases[] = {
      {"add", {x, y}, "tensor([[0., 2., 4.],\n        [3., 5., 7.]])"},
      {"add", {x, tenon_of_int(1)}, "tensor([[1., 2., 3.],\n        [4., 5., 6.]])"},
      {"sub", {y, y, tenon_named("alpha", tenon_of_int(2))}, "tensor([ 0., -1., -2.])"},
      {"sub", {y, tenon_named("other", y)}, "tensor([0., 0., 0.])"},
      {"mul", {tenon_named("other", y), tenon_named("input", y)}, "tensor([0., 1., 4.])"},
      {"mul", {i, tenon_of_float(0.5)}, "tensor([[0.0000, 0.5000, 1.0000],\n        [1.5000, 2.0000, 2.5000]])"},
      {"mul", {y, tenon_of_complex(0, 1)}, "tensor([0.+0.j, 0.+1.j, 0.+2.j])"},
      {"logical_or", {y, tenon_of_tensor(y.get())}, "tensor([False,  True,  True])"},
      {"sum", {x}, "tensor(15.)"},
      {"sum", {x, tenon_of_int(0)}, "tensor([3., 5., 7.])"},
      {"sum", {x, ints({0, 1}), tenon_of_bool(1)}, "tensor([[15.]])"},
      {"sum", {x, tenon_none(), tenon_named("dtype", tenon_of_dtype(TENON_INT32))}, "tensor(15, dtype=torch.int32)"},
      {"max", {x}, "tensor(5.)"},
      {"div", {y, tenon_of_int(2), tenon_named("rounding_mode", tenon_of_string("floor"))}, "tensor([0., 0., 1.])"},
      {"clamp", {y, tenon_none(), tenon_of_int(1)}, "tensor([0., 1., 1.])"},
      {"cat",
       {tenon_of_tensors(pair.data(), 2), tenon_of_int(1)},
       "tensor([[0., 1., 2., 0., 1., 2.],\n        [3., 4., 5., 3., 4., 5.]])"},
      {"bucketize", {y, y}, "tensor([0, 1, 2])"},
      {"reshape", {x, ints({3, 2})}, "tensor([[0., 1.],\n        [2., 3.],\n        [4., 5.]])"},
      {"transpose", {i, tenon_of_int(0), tenon_of_int(-1)}, "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])"},
      {"squeeze", {row, tenon_of_int(0)}, "tensor([0., 1., 2.])"},
      {"slice", {x, tenon_of_int(1), tenon_named("step", tenon_of_int(2))}, "tensor([[0., 2.],\n        [3., 5.]])"},
      {"view", {y, tenon_of_dtype(TENON_INT32)}, "tensor([         0, 1065353216, 1073741824], dtype=torch.int32)"},
      {"to", {y, tenon_of_dtype(TENON_BOOL)}, "tensor([False,  True,  True])"},
      {"full", {ints({2}), tenon_of_bool(1)}, "tensor([True, True])"},
      {"eye", {tenon_of_int(2)}, "tensor([[1., 0.],\n        [0., 1.]])"},
  };
  for (const auto& c : cases) EXPECT_EQ(text_of(call(c.op, c.values).get()), c.want) << c.op;
  const std::vector<Handle> counts =
      call_all("histogram", {y, tenon_of_int(2), tenon_named("range", tenon_of_floats(range.data(), 2))});
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(text_of(counts[0].get()), "tensor([1., 2.])");
}

TEST(C, SeveralResults) {
  const Handle x = arange(6, {2, 3});
  const std::vector<Handle> most = call_all("max", {x, tenon_of_int(1)});
  ASSERT_EQ(most.size(), 2u);
  EXPECT_EQ(text_of(most[0].get()), "tensor([2., 5.])");
  EXPECT_EQ(text_of(most[1].get()), "tensor([2, 2])");
  EXPECT_EQ(call_all("chunk", {x, tenon_of_int(3), tenon_of_int(1)}).size(), 3u);

  tenon_tensor* one = reinterpret_cast<tenon_tensor*>(1);
  int64_t count = -1;
  const Values values{x, tenon_of_int(1)};
  EXPECT_EQ(tenon_call("max", values.data(), 2, &one, 1, &count), TENON_VALUE_ERROR);
  EXPECT_STREQ(tenon_error_text(), "tenon_call: max gives 2 results, and there is room for 1");
  EXPECT_EQ(one, nullptr);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(tenon_call("max", values.data(), 2, nullptr, 0, nullptr), TENON_OK) << "dropped";
}

TEST(C, InPlaceAndOutWriteAndGiveTheSameTensor) {
  const Handle x = arange(3, {3});
  EXPECT_EQ(call("add_", {x, tenon_of_int(1)}).get(), x.get());
  EXPECT_EQ(text_of(x.get()), "tensor([1., 2., 3.])");
  const Handle out = call("empty", {ints({3})});
  EXPECT_EQ(call("mul", {x, x, tenon_named("out", out)}).get(), out.get());
  EXPECT_EQ(text_of(out.get()), "tensor([1., 4., 9.])");
  const Handle values = call("empty", {ints({})}),
               places = call("empty", {ints({}), tenon_named("dtype", tenon_of_dtype(TENON_INT64))});
  const std::array<tenon_tensor*, 2> outs{values.get(), places.get()};
  call_all("max", {x, tenon_of_int(0), tenon_named("out", tenon_of_tensors(outs.data(), 2))});
  EXPECT_EQ(text_of(values.get()) + text_of(places.get()), "tensor(3.)tensor(2)");
  call("copy_", {out, tenon_named("src", values)});
  EXPECT_EQ(text_of(out.get()), "tensor([3., 3., 3.])");
  call("fill_", {out, tenon_of_int(7)});
  call("zero_", {x});
  EXPECT_EQ(text_of(out.get()) + text_of(x.get()), "tensor([7., 7., 7.])tensor([0., 0., 0.])");
}

TEST(C, EveryOpAndViewIsFound) {
  for (const tenon::Schema& schema : tenon::schemas()) {
    const tenon_value wrong = tenon_named("no such parameter", tenon_of_int(1));
    EXPECT_EQ(tenon_call(schema.name, &wrong, 1, nullptr, 0, nullptr), TENON_TYPE_ERROR) << schema.name;
    EXPECT_STREQ(tenon_error_note(0), tenon::find_schema(schema.name)->signature);
  }
  for (const tenon::ViewSchema& view : tenon::view_schemas())
    EXPECT_EQ(tenon_call(view.name, nullptr, 0, nullptr, 0, nullptr), TENON_TYPE_ERROR) << view.name;
}

TEST(C, ViewsShareTheElements) {
  const Handle x = arange(12, {1, 3, 4});
  const Handle matrix = call("squeeze", {x});
  const Handle complex = call("view_as_complex", {call("reshape", {x, ints({6, 2})})});
  const struct {
    const char* op;
    Values values;
    const char* sizes;
  } cases[] = {
      {"adjoint", {x}, "[1, 4, 3]"},
      {"as_strided", {x, ints({2}), ints({1}), tenon_of_int(3)}, "[2]"},
      {"broadcast_to", {x, ints({2, 3, 4})}, "[2, 3, 4]"},
      {"conj", {x}, "[1, 3, 4]"},
      {"diagonal", {x, tenon_of_int(0), tenon_of_int(1), tenon_of_int(2)}, "[1, 3]"},
      {"expand", {x, ints({2, 3, 4})}, "[2, 3, 4]"},
      {"expand_as", {x, x}, "[1, 3, 4]"},
      {"flatten", {x}, "[12]"},
      {"imag", {complex}, "[6]"},
      {"moveaxis", {x, tenon_of_int(0), tenon_of_int(2)}, "[3, 4, 1]"},
      {"movedim", {x, ints({0, 1}), ints({1, 2})}, "[4, 1, 3]"},
      {"narrow", {x, tenon_of_int(2), tenon_of_int(1), tenon_of_int(2)}, "[1, 3, 2]"},
      {"permute", {x, ints({2, 0, 1})}, "[4, 1, 3]"},
      {"positive", {x}, "[1, 3, 4]"},
      {"ravel", {x}, "[12]"},
      {"real", {complex}, "[6]"},
      {"reshape_as", {x, x}, "[1, 3, 4]"},
      {"resolve_conj", {x}, "[1, 3, 4]"},
      {"select", {x, tenon_of_int(1), tenon_of_int(-1)}, "[1, 4]"},
      {"squeeze", {x}, "[3, 4]"},
      {"squeeze", {x, ints({0, 1})}, "[3, 4]"},
      {"swapaxes", {x, tenon_of_int(0), tenon_of_int(1)}, "[3, 1, 4]"},
      {"swapdims", {x, tenon_of_int(0), tenon_of_int(1)}, "[3, 1, 4]"},
      {"t", {matrix}, "[4, 3]"},
      {"unflatten", {x, tenon_of_int(2), ints({2, 2})}, "[1, 3, 2, 2]"},
      {"unfold", {x, tenon_of_int(2), tenon_of_int(3), tenon_of_int(1)}, "[1, 3, 2, 3]"},
      {"view", {x, ints({12})}, "[12]"},
      {"view_as", {x, x}, "[1, 3, 4]"},
      {"view_as_real", {complex}, "[6, 2]"},
  };
  const auto* begin = static_cast<const std::byte*>(tenon_data(x.get()));
  for (const auto& c : cases) {
    const Handle view = call(c.op, c.values);
    ASSERT_NE(view.get(), nullptr) << c.op;
    EXPECT_EQ(tenon::to_string(tenon::SizesView(tenon_sizes(view.get()), tenon_ndim(view.get()))), c.sizes) << c.op;
    const auto* data = static_cast<const std::byte*>(tenon_data(view.get()));
    EXPECT_TRUE(data >= begin && data < begin + 48) << c.op;
  }
}

TEST(C, ErrorsHaveTheCodeOfTheirClass) {
  const Handle x = arange(6, {2, 3}), y = arange(2, {2}), square = call("zeros", {ints({2, 2})});
  const struct {
    const char* op;
    Values values;
    tenon_status code;
    const char* text;
  } cases[] = {
      {"add",
       {x, y},
       TENON_ERROR,
       "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"},
      {"sum",
       {x, tenon_of_int(2)},
       TENON_INDEX_ERROR,
       "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
      {"bitwise_and", {y, y}, TENON_NOT_IMPLEMENTED, "\"bitwise_and_cpu\" not implemented for 'Float'"},
      {"ad", {x, x}, TENON_VALUE_ERROR, "tenon_call: there is no op 'ad'"},
      {"sum_", {x}, TENON_VALUE_ERROR, "tenon_call: there is no op 'sum_'"},
      {"add", {x}, TENON_TYPE_ERROR, "tenon_call: the arguments fit no signature of add"},
      {"add", {x, tenon_of_string("1")}, TENON_TYPE_ERROR, "tenon_call: the arguments fit no signature of add"},
      {"add", {x, x, tenon_of_int(1)}, TENON_TYPE_ERROR, "tenon_call: the arguments fit no signature of add"},
      {"add", {x, tenon_named("self", x)}, TENON_TYPE_ERROR, "tenon_call: the arguments fit no signature of add"},
      {"add",
       {tenon_named("other", x), x},
       TENON_TYPE_ERROR,
       "tenon_call: an argument without a name follows one with a name"},
      {"add",
       {x, x, tenon_named("out", tenon_of_int(1))},
       TENON_TYPE_ERROR,
       "tenon_call: out must be a tensor or a list of tensors"},
      {"add",
       {x, x, tenon_named("out", tenon_of_tensors(nullptr, 0))},
       TENON_VALUE_ERROR,
       "tenon_call: out of add holds 1 tensor, not 0"},
      {"add_", {x, x, tenon_named("out", x)}, TENON_TYPE_ERROR, "tenon_call: add_ takes no out"},
      {"reshape",
       {x, ints({6}), tenon_named("out", x)},
       TENON_TYPE_ERROR,
       "tenon_call: the arguments fit no signature of reshape that takes out"},
      {"add", {x, tenon_of_tensor(nullptr)}, TENON_VALUE_ERROR, "tenon_call: a tensor is a null pointer"},
      {"reshape", {x, tenon_of_ints(nullptr, 2)}, TENON_VALUE_ERROR, "tenon_call: integers is a null pointer"},
      {"reshape", {x, tenon_of_ints(nullptr, -1)}, TENON_VALUE_ERROR, "tenon_call: -1 integers"},
      {"to", {x, tenon_of_dtype(static_cast<tenon_dtype>(15))}, TENON_VALUE_ERROR, "tenon_call: no dtype is 15"},
      {"div",
       {x, x, tenon_named("rounding_mode", tenon_of_string(nullptr))},
       TENON_VALUE_ERROR,
       "tenon_call: a string is a null pointer"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(code_of(c.op, c.values), c.code) << c.op << ": " << c.text;
    EXPECT_STREQ(tenon_error_text(), c.text) << c.op;
  }
  code_of("add", {x, y});
  ASSERT_GT(tenon_error_note_count(), 0);
  EXPECT_STREQ(tenon_error_note(0), "add: shapes aligned at the right\n  a  2 3\n  b    2\n       ^");
  EXPECT_EQ(tenon_error_note(-1), nullptr);
  EXPECT_EQ(tenon_error_note(tenon_error_note_count()), nullptr);

  tenon::memory::set_budget(1 << 20);
  EXPECT_EQ(code_of("zeros", {ints({1 << 20})}), TENON_OUT_OF_MEMORY);
  tenon::memory::set_budget(std::numeric_limits<int64_t>::max());

  const std::atomic<bool> stop{true};
  const tenon::InterruptGuard guard(stop);
  const Handle large = call("empty", {ints({1 << 22})});
  EXPECT_EQ(code_of("exp", {large}), TENON_INTERRUPTED);
}

TEST(C, AnUnknownKindFitsNothing) {
  tenon_value wrong = tenon_none();
  wrong.kind = 99;
  EXPECT_EQ(code_of("sin", {wrong}), TENON_TYPE_ERROR);
  wrong.kind = -1;
  EXPECT_EQ(code_of("zeros", {wrong}), TENON_TYPE_ERROR);
}

TEST(C, NullPointersAreErrors) {
  tenon_tensor* result = nullptr;
  const Handle x = arange(2, {2});
  const std::map<std::string, tenon_status> codes = {
      {"from_data", tenon_from_data(nullptr, nullptr, nullptr, 1, TENON_INT8, nullptr, nullptr, &result)},
      {"from_data, a count", tenon_from_data(nullptr, nullptr, nullptr, -1, TENON_INT8, nullptr, nullptr, &result)},
      {"from_data, the data",
       tenon_from_data(nullptr, tenon_sizes(x.get()), nullptr, 1, TENON_INT8, nullptr, nullptr, &result)},
      {"from_data, a dtype", tenon_from_data(nullptr, nullptr, nullptr, 0, -1, nullptr, nullptr, &result)},
      {"from_data, no result",
       tenon_from_data(tenon_data(x.get()), nullptr, nullptr, 0, TENON_INT8, nullptr, nullptr, nullptr)},
      {"to_dlpack", tenon_to_dlpack(nullptr, nullptr)},
      {"to_dlpack, no result", tenon_to_dlpack(x.get(), nullptr)},
      {"to_dlpack_unversioned", tenon_to_dlpack_unversioned(x.get(), nullptr)},
      {"from_dlpack", tenon_from_dlpack(nullptr, &result)},
      {"from_dlpack_unversioned", tenon_from_dlpack_unversioned(nullptr, &result)},
      {"call", tenon_call(nullptr, nullptr, 0, nullptr, 0, nullptr)},
      {"call, arguments", tenon_call("sin", nullptr, 1, nullptr, 0, nullptr)},
      {"call, a count", tenon_call("sin", nullptr, -1, nullptr, 0, nullptr)},
      {"call, results", tenon_call("sin", nullptr, 0, nullptr, 1, nullptr)},
      {"call, capacity", tenon_call("sin", nullptr, 0, nullptr, -1, nullptr)},
      {"set_requires_grad", tenon_set_requires_grad(nullptr, 1)},
      {"backward", tenon_backward(nullptr, nullptr)},
      {"grad", tenon_grad(nullptr, &result)},
      {"grad, no result", tenon_grad(x.get(), nullptr)},
      {"threads", tenon_set_num_threads(0)},
  };
  for (const auto& [name, code] : codes) EXPECT_EQ(code, TENON_VALUE_ERROR) << name;
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(tenon_retain(nullptr), nullptr);
  tenon_release(nullptr);
  EXPECT_EQ(tenon_ndim(nullptr), -1);
  EXPECT_EQ(tenon_numel(nullptr), -1);
  EXPECT_EQ(tenon_dtype_of(nullptr), -1);
  EXPECT_EQ(tenon_sizes(nullptr), nullptr);
  EXPECT_EQ(tenon_strides(nullptr), nullptr);
  EXPECT_EQ(tenon_data(nullptr), nullptr);
  EXPECT_EQ(tenon_requires_grad(nullptr), -1);
  EXPECT_EQ(tenon_dtype_name(15), nullptr);
  EXPECT_EQ(tenon_itemsize(-1), -1);
  EXPECT_EQ(tenon_to_string(nullptr, nullptr, 0), -1);
  EXPECT_EQ(tenon_to_string(x.get(), nullptr, 5), -1);
  EXPECT_EQ(tenon_error_code(), TENON_VALUE_ERROR);
}

TEST(C, MemoryIsGivenBackOnceAndOnlyAfterTheLastView) {
  static int deleted = 0;
  deleted = 0;
  std::array<int32_t, 6> numbers{0, 1, 2, 3, 4, 5};
  const std::array<int64_t, 2> sizes{3, 2}, strides{1, 3};
  const auto deleter = [](void* data, void* context) {
    EXPECT_EQ(data, context);
    ++deleted;
  };
  Handle x, view;
  ASSERT_EQ(
      tenon_from_data(numbers.data(), sizes.data(), strides.data(), 2, TENON_INT32, deleter, numbers.data(), x.slot()),
      TENON_OK);
  EXPECT_EQ(text_of(x.get()), "tensor([[0, 3],\n        [1, 4],\n        [2, 5]], dtype=torch.int32)");
  EXPECT_EQ(tenon_strides(x.get())[1], 3);
  EXPECT_EQ(tenon_data(x.get()), numbers.data());
  const Handle again(tenon_retain(x.get()));
  EXPECT_EQ(again.get(), x.get());
  view = call("select", {x, tenon_of_int(1), tenon_of_int(1)});
  call("add_", {view, tenon_of_int(10)});
  EXPECT_EQ(numbers[3], 13);
  x = Handle();
  EXPECT_EQ(deleted, 0) << "retained";
  { const Handle gone(tenon_retain(again.get())); }
  const_cast<Handle&>(again) = Handle();
  EXPECT_EQ(deleted, 0) << "the view is left";
  view = Handle();
  EXPECT_EQ(deleted, 1);

  const std::array<int64_t, 2> negative{1, -3};
  tenon_tensor* result = reinterpret_cast<tenon_tensor*>(1);
  EXPECT_EQ(
      tenon_from_data(numbers.data(), sizes.data(), negative.data(), 2, TENON_INT32, deleter, numbers.data(), &result),
      TENON_VALUE_ERROR);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(deleted, 1) << "the caller keeps the memory";
}

TEST(C, DtypesHaveTheNamesAndWidthsOfTheLibrary) {
  for (int32_t dtype = 0; dtype < tenon::kDtypeCount; ++dtype) {
    const auto wanted = static_cast<tenon::Dtype>(dtype);
    EXPECT_STREQ(tenon_dtype_name(dtype), tenon::dtype_name(wanted));
    EXPECT_EQ(tenon_itemsize(dtype), tenon::itemsize(wanted));
    const Handle x = call("zeros", {ints({2}), tenon_named("dtype", tenon_of_dtype(static_cast<tenon_dtype>(dtype)))});
    EXPECT_EQ(tenon_dtype_of(x.get()), dtype);
    EXPECT_EQ(tenon_numel(x.get()), 2);
  }
}

TEST(C, TextsAreCutAndEnded) {
  const Handle x = arange(3, {3});
  std::array<char, 9> text;
  text.fill('#');
  EXPECT_EQ(tenon_to_string(x.get(), text.data(), 8), 20);
  EXPECT_STREQ(text.data(), "tensor(");
  EXPECT_EQ(text[8], '#');
}

// --- DLPack: the structs as its standard declares them

struct DLTensorOf {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

}  // namespace

struct DLManagedTensor {
  DLTensorOf dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensorOf dl_tensor;
};

namespace {

TEST(C, DlpackSharesElementsInBothDirections) {
  const Handle x = arange(6, {2, 3});
  DLManagedTensorVersioned* versioned = nullptr;
  ASSERT_EQ(tenon_to_dlpack(x.get(), &versioned), TENON_OK);
  EXPECT_EQ(versioned->major, 1u);
  EXPECT_EQ(versioned->flags, 0u);
  EXPECT_EQ(versioned->dl_tensor.data, tenon_data(x.get()));
  EXPECT_EQ(versioned->dl_tensor.shape[1], 3);
  EXPECT_EQ(versioned->dl_tensor.bits, 32);
  Handle back;
  ASSERT_EQ(tenon_from_dlpack(versioned, back.slot()), TENON_OK);
  EXPECT_EQ(tenon_data(back.get()), tenon_data(x.get()));

  DLManagedTensor* old = nullptr;
  ASSERT_EQ(tenon_to_dlpack_unversioned(x.get(), &old), TENON_OK);
  EXPECT_EQ(old->dl_tensor.data, tenon_data(x.get()));
  Handle older;
  ASSERT_EQ(tenon_from_dlpack_unversioned(old, older.slot()), TENON_OK);
  EXPECT_EQ(text_of(older.get()), text_of(x.get()));

  const Handle expanded = call("expand", {call("ones", {ints({1})}), ints({3})});
  ASSERT_EQ(tenon_to_dlpack(expanded.get(), &versioned), TENON_OK);
  EXPECT_EQ(versioned->flags, 1u) << "read-only";
  versioned->deleter(versioned);
  ASSERT_EQ(tenon_to_dlpack_unversioned(expanded.get(), &old), TENON_OK);
  EXPECT_NE(old->dl_tensor.data, tenon_data(expanded.get())) << "a copy";
  old->deleter(old);
}

TEST(C, ReadOnlyMemoryIsCopiedAndWrongStructsStayTheCallers) {
  static int deleted = 0;
  deleted = 0;
  std::array<double, 2> numbers{1, 2};
  int64_t shape = 2;
  DLManagedTensorVersioned managed{1,       0,
                                   nullptr, [](DLManagedTensorVersioned*) { ++deleted; },
                                   1,       {numbers.data(), 1, 0, 1, 2, 64, 1, &shape, nullptr, 0}};
  Handle copy;
  ASSERT_EQ(tenon_from_dlpack(&managed, copy.slot()), TENON_OK);
  EXPECT_EQ(deleted, 1);
  EXPECT_NE(tenon_data(copy.get()), numbers.data());
  EXPECT_EQ(text_of(copy.get()), "tensor([1., 2.], dtype=torch.float64)");

  tenon_tensor* result = nullptr;
  managed.major = 2;
  EXPECT_EQ(tenon_from_dlpack(&managed, &result), TENON_ERROR);
  EXPECT_STREQ(tenon_error_text(), "from_dlpack: version 2 is not known");
  managed.major = 1;
  managed.dl_tensor.device_type = 2;
  EXPECT_EQ(tenon_from_dlpack(&managed, &result), TENON_ERROR);
  managed.dl_tensor.device_type = 1;
  managed.dl_tensor.bits = 63;
  EXPECT_EQ(tenon_from_dlpack(&managed, &result), TENON_ERROR);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(deleted, 1);
}

TEST(C, GradientsFlowThroughABroadcast) {
  const Handle x = arange(6, {2, 3}), w = arange(3, {3});
  EXPECT_EQ(tenon_requires_grad(w.get()), 0);
  ASSERT_EQ(tenon_set_requires_grad(w.get(), 1), TENON_OK);
  EXPECT_EQ(tenon_requires_grad(w.get()), 1);
  Handle grad;
  ASSERT_EQ(tenon_grad(w.get(), grad.slot()), TENON_OK);
  EXPECT_EQ(grad.get(), nullptr) << "no gradient yet";
  const Handle product = call("mul", {x, w});
  EXPECT_EQ(tenon_backward(product.get(), nullptr), TENON_ERROR);
  EXPECT_STREQ(tenon_error_text(), "grad can be implicitly created only for scalar outputs");
  ASSERT_EQ(tenon_backward(product.get(), call("ones", {ints({2, 3})}).get()), TENON_OK);
  ASSERT_EQ(tenon_grad(w.get(), grad.slot()), TENON_OK);
  EXPECT_EQ(text_of(grad.get()), "tensor([3., 5., 7.])");

  EXPECT_EQ(tenon_set_grad_enabled(0), 1);
  EXPECT_EQ(tenon_requires_grad(call("mul", {x, w}).get()), 0);
  EXPECT_EQ(tenon_set_grad_enabled(1), 0);
  EXPECT_EQ(tenon_requires_grad(call("mul", {x, w}).get()), 1);
  EXPECT_EQ(tenon_set_requires_grad(arange(3, {3}, TENON_INT64).get(), 1), TENON_ERROR);
}

TEST(C, ErrorsAreKeptPerThread) {
  EXPECT_EQ(code_of("no such op", {}), TENON_VALUE_ERROR);
  std::thread([] {
    EXPECT_EQ(tenon_error_code(), TENON_OK);
    EXPECT_STREQ(tenon_error_text(), "");
    EXPECT_EQ(code_of("sin", {}), TENON_TYPE_ERROR);
  }).join();
  EXPECT_EQ(tenon_error_code(), TENON_VALUE_ERROR);
  static_cast<void>(arange(2, {2}));
  EXPECT_STREQ(tenon_error_text(), "tenon_call: there is no op 'no such op'") << "success leaves it";
}

TEST(C, WarningsReachTheHandler) {
  static std::string seen;
  seen.clear();
  tenon_set_warning_handler([](const char* category, const char* text) { seen = std::string(category) + ": " + text; });
  const Handle x = arange(3, {3}), out = call("empty", {ints({2})});
  call("add", {x, x, tenon_named("out", out)});
  tenon_set_warning_handler(nullptr);
  EXPECT_TRUE(seen.starts_with("UserWarning: An output with one or more elements was resized")) << seen;
}

TEST(C, SettingsAreThoseOfTheLibrary) {
  const int32_t before = tenon_num_threads();
  ASSERT_EQ(tenon_set_num_threads(2), TENON_OK);
  EXPECT_EQ(tenon::get_num_threads(), 2);
  ASSERT_EQ(tenon_set_num_threads(before), TENON_OK);
  tenon_manual_seed(3);
  const Handle first = call("randn", {ints({4})});
  tenon::manual_seed(3);
  EXPECT_EQ(text_of(first.get()), tenon::to_string(tenon::randn({4})));
  EXPECT_STREQ(tenon_version(), TENON_VERSION);
}

}  // namespace
