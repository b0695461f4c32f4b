// Any bytes as a program over a few tensors that share memory: factories, views, ops in every form, writes, resizes,
// casts, gradients. After each step layouts are inside their storage, only the written elements have changed, and
// elements equal those given by index arithmetic, or by the op on single elements. A step that fails changes nothing.
#include <map>
#include <set>
#include <string_view>

#include "autograd/node.h"
#include "fuzz/case.h"
#include "fuzz/op_steps.h"
#include "fuzz/view_steps.h"
#include "tenon/autograd.h"
#include "tenon/policy.h"

using namespace tenon;
using fuzz::Bytes;

namespace {

constexpr std::size_t kMostTensors = 5;
constexpr int kMostSteps = 24;

/// A tensor that is saved for backward and then written in place with the op's result (`x.copy_(x.log())`) forms a
/// reference cycle, in PyTorch, too. At the end of a case exactly such nodes release their saved tensors.
class KnownCycles {
 public:
  KnownCycles() = default;
  KnownCycles(const KnownCycles&) = delete;
  KnownCycles& operator=(const KnownCycles&) = delete;
  ~KnownCycles() {
    for (const autograd::Node& node : nodes_) node.impl()->release_saved();
  }

  /// Notes that `result` was computed from the operands, or written in place.
  void note_op(const Tensor& result, const std::vector<Tensor>& operands) {
    autograd::Node node = result.grad_fn();
    if (!node.defined()) return;
    if (node.name() == "AsStridedBackward0") node = node.next_functions()[0].node;  // for a view that was written to
    std::set<const TensorImpl*>& saved = saved_[node.impl()];
    saved.clear();
    for (const Tensor& operand : operands)
      if (operand.defined() && base_of(operand) != base_of(result)) saved.insert(base_of(operand));
  }
  void note_write(const Tensor& written) {
    std::vector<autograd::Node> left{written.grad_fn()};
    std::set<const autograd::NodeImpl*> seen;
    while (!left.empty()) {
      const autograd::Node node = left.back();
      left.pop_back();
      if (!node.defined() || !seen.insert(node.impl()).second) continue;
      const auto saved = saved_.find(node.impl());
      if (saved != saved_.end() && saved->second.count(base_of(written)) > 0) nodes_.push_back(node);
      for (const autograd::Node::Edge& edge : node.next_functions()) left.push_back(edge.node);
    }
  }

 private:
  static const TensorImpl* base_of(const Tensor& tensor) {
    return tensor.impl()->base ? tensor.impl()->base : tensor.impl();
  }

  std::map<const autograd::NodeImpl*, std::set<const TensorImpl*>> saved_;  // may contain destroyed tensors
  std::vector<autograd::Node> nodes_;
};

class Machine {
 public:
  explicit Machine(Bytes& bytes) : bytes_(bytes) {}

  void run() {
    tensors_.push_back(arange(0, 24, 1, Dtype::float32).reshape({2, 3, 4}));
    for (int step = 0; step < kMostSteps && !bytes_.empty(); ++step) {
      const fuzz::Snapshot before(tensors_);
      const char* name = "a step that failed";
      const Tensor* written = nullptr;
      resized_only_ = false;
      try {
        written = this->step(name);
      } catch (const Error&) {
      }
      if (std::getenv("TENON_FUZZ_SHOW")) show(name);
      if (written && !resized_only_) cycles_.note_write(*written);
      before.check_unchanged(written, !resized_only_, name);
      for (const Tensor& tensor : tensors_) fuzz::check_tensor(tensor);
    }
    for (const Tensor& tensor : tensors_)
      if (!tensor.is_meta() && tensor.numel() <= fuzz::kMostElements) fuzz::read_elements(tensor);
  }

 private:
  void show(const char* name) const {
    std::fprintf(stderr, "%s\n", name);
    for (const Tensor& tensor : tensors_)
      std::fprintf(stderr, "    %s%s%s\n", fuzz::describe(tensor).c_str(),
                   tensor.requires_grad() ? " requires grad" : "",
                   written_.defined() && tensor.is(written_) ? " (written last)" : "");
  }

  Tensor& pick() { return tensors_[static_cast<std::size_t>(bytes_.up_to(static_cast<int64_t>(tensors_.size()) - 1))]; }
  static bool is_small(const Tensor& tensor) { return tensor.is_meta() || tensor.numel() <= fuzz::kMostElements; }
  /// Whether sizes are small, or so large that they must be refused.
  static bool is_affordable(SizesView sizes) {
    const fuzz::Wide count = fuzz::count_elements(sizes);
    return count <= fuzz::kMostElements || count > (int64_t{1} << 33);
  }
  void keep(Tensor tensor) {
    if (!tensor.defined()) return;
    if (tensors_.size() < kMostTensors)
      tensors_.push_back(std::move(tensor));
    else
      pick() = std::move(tensor);
  }

  /// Runs one step. Returns the tensor whose elements it may have changed.
  const Tensor* step(const char*& name) {
    switch (bytes_.up_to(15)) {
      case 0:
      case 1:
        name = "factory";
        make();
        return nullptr;
      case 2:
      case 3:
      case 4:
      case 5:
      case 6: {
        const Tensor self = pick();
        const fuzz::ViewStep view = fuzz::view_step(self, bytes_);
        name = "view";
        if (!view.result.defined() || fuzz::has_negative_size(view.result)) return nullptr;
        fuzz::check_tensor(view.result);
        fuzz::check_view(self, view);
        keep(view.result);
        return nullptr;
      }
      case 7:
      case 8:
      case 9:
      case 10:
        return call_op(name);
      case 11:
        return write(name);
      case 12: {
        const Tensor self = pick();
        const Dims sizes = fuzz::draw_list(bytes_);
        if (!is_affordable(sizes)) return nullptr;
        Tensor target = self;
        const Storage* storage = self.impl()->storage;
        const int64_t nbytes = storage ? storage->nbytes : 0;
        target.resize_(sizes);
        if (storage)  // new memory may have any content, but later steps need bools of 0 or 1
          std::memset(storage->data + nbytes, 0, static_cast<std::size_t>(storage->nbytes - nbytes));
        name = "resize_";
        CLAIM(target.sizes() == sizes);
        resized_only_ = true;
        written_ = target;
        return &written_;
      }
      case 13:
        name = "copy";
        copy();
        return nullptr;
      case 14:
        return put(name);
      default:
        name = "autograd";
        differentiate();
        return nullptr;
    }
  }

  void make() {
    const Options options(bytes_.dtype(), bytes_.up_to(9) == 0 ? Device::meta : Device::cpu);
    const int64_t form = bytes_.up_to(6);
    Dims sizes = fuzz::draw_list(bytes_);
    if (!is_affordable(sizes)) return;
    if (form == 0) return keep(zeros(sizes, options));
    if (form == 1) return keep(full(sizes, fuzz::draw_number(bytes_), options));
    if (form == 2) {
      const int64_t count = bytes_.up_to(200);
      return keep(arange(bytes_.up_to(20) - 10, count, 1 + bytes_.up_to(2), options));
    }
    if (form == 3) return keep(eye(bytes_.up_to(9), bytes_.up_to(9), options));
    if (form == 4)
      return keep(linspace(fuzz::draw_number(bytes_), fuzz::draw_number(bytes_), bytes_.up_to(40), options));
    Tensor tensor;
    if (form == 5) {
      Dims strides(sizes.size(), 0);
      fuzz::Wide extent = 1;
      for (int64_t dim = 0; dim < sizes.size(); ++dim) {
        strides[dim] = bytes_.integer();
        extent += std::max<fuzz::Wide>(fuzz::Wide{sizes[dim]} - 1, 0) * std::max<int64_t>(strides[dim], 0);
        extent = std::min(extent, fuzz::Wide{1} << 120);  // so large that the next product can be added
      }
      if (extent > 4096 && extent < (int64_t{1} << 33)) return;
      tensor = empty_strided(sizes, strides, options);
    } else {
      tensor = empty(sizes, options);
    }
    // Uninitialised memory may have any content, but a bool must be 0 or 1.
    if (Storage* storage = tensor.impl()->storage)
      for (int64_t i = 0; i < storage->nbytes; ++i)
        storage->data[i] = static_cast<std::byte>(i < 64 ? bytes_.byte() : static_cast<uint8_t>(i)) &
                           (tensor.dtype() == Dtype::bool_ ? std::byte{1} : std::byte{255});
    keep(tensor);
  }

  const Tensor& pick_small() {
    const Tensor& tensor = pick();
    if (!is_small(tensor)) throw Error("too large to be read element by element");
    return tensor;
  }
  Value draw_argument(const Parameter& parameter, const fuzz::Call& before) {
    if (parameter.is_list()) {
      List<Tensor> tensors;
      for (int64_t left = bytes_.up_to(3); left > 0; --left) tensors.push_back(pick_small());
      return tensors;
    }
    if (!parameter.is_operand()) return fuzz::draw_value(bytes_, parameter);
    const int64_t form = bytes_.up_to(7);
    if (form == 7 && before.has_self()) return partner(before);
    if (form == 0 && fuzz::may_be_left_out(parameter)) return {};
    if (form <= 2 && parameter.takes_numbers) return fuzz::draw_number(bytes_);
    if (form >= 2 && declared::is_index(parameter) && before.has_self()) return draw_places(before);
    if (form >= 2 && declared::is_mask(parameter)) return pick_small().to(Dtype::bool_);
    return pick_small();
  }

  /// The index tensor is kept, so that later steps can read and write it.
  Tensor draw_places(const fuzz::Call& call) {
    const Tensor places = fuzz::draw_places(bytes_, call.find("self")->tensor());
    if (bytes_.flag()) keep(places);
    return places;
  }

  /// A second operand for `self`: the same tensor, values to scatter, or a matrix for a product.
  static Tensor partner(const fuzz::Call& call) {
    const Tensor& self = call.find("self")->tensor();
    const Value *index = call.find("index"), *along = call.find("dim");
    if (index && along && !self.is_meta() && !index->tensor().is_meta()) {
      const int64_t dim = along->integer(0);
      return index->tensor().dim() < 2 && self.dim() > 0 ? self.index_select(dim, index->tensor())
                                                         : self.gather(dim, index->tensor());
    }
    return call.schema->is_map() || self.dim() < 2 ? self : self.mT();
  }

  const Tensor* call_op(const char*& name) {
    const auto last = static_cast<int64_t>(schemas().size()) - 1;
    const Schema& schema = schemas()[static_cast<std::size_t>(bytes_.up_to(last))];
    fuzz::Call call(schema);
    for (const Parameter& parameter : schema.parameters())
      if (std::string_view(parameter.values) == "degree") return nullptr;  // a polynomial takes as many steps
    for (const Parameter& parameter : schema.parameters()) call.add(draw_argument(parameter, call));
    if (schema.is_map() && !call.on_meta() && fuzz::broadcast_count(call.tensors()) > fuzz::kMostElements)
      return nullptr;
    const Value* values = call.values.data();
    const int64_t form = bytes_.up_to(3);
    bool is_overwritten = false;  // by a later result
    if (form == 2 && schema.inplace && call.has_self()) {
      written_ = call.find("self")->tensor();
      schema.inplace(values);
      cycles_.note_op(written_, call.tensors());
    } else if (form >= 2 && schema.out) {
      List<Tensor> outs(static_cast<std::size_t>(schema.results));
      for (Tensor& out : outs) out = pick();
      written_ = outs[0];
      schema.out(values, outs.data());
      for (std::size_t i = 1; i < outs.size(); ++i)
        is_overwritten |= outs[i].impl()->storage == written_.impl()->storage;
    } else {
      const bool method = form == 1 && schema.method && call.has_self();
      const List<Tensor> results = method ? schema.method(values) : schema.function(values);
      name = schema.name;
      int64_t place = 0;
      for (const Tensor& result : results) {
        fuzz::check_op(call, result, place++);
        cycles_.note_op(result, call.tensors());
        keep(result);
      }
      return nullptr;
    }
    name = schema.name;
    if (!is_overwritten) fuzz::check_op(call, written_);
    return &written_;
  }

  const Tensor* write(const char*& name) {
    written_ = pick();
    if (!is_small(written_)) return nullptr;
    const int64_t form = bytes_.up_to(3);
    const Scalar number = fuzz::draw_number(bytes_);
    if (form == 0) {
      written_.fill_(number);
      name = "fill_";
      if (!written_.is_meta() && written_.numel() > 0)
        CLAIM(fuzz::same_element(fuzz::element_of(written_, fuzz::index_at(written_.sizes(), written_.numel() / 2)),
                                 fuzz::bytes_of(full({}, number, written_.dtype())), written_.dtype()));
      return &written_;
    }
    const Tensor from = pick_small();
    fuzz::Call cast(expr::cast_function());
    cast.add(from);
    cast.add(written_.dtype());
    if (form == 1)
      written_.fill_(from);
    else
      written_.copy_(from);
    name = "copy_";
    fuzz::check_elementwise(cast, written_);
    return &written_;
  }

  void copy() {
    const Tensor self = pick();
    if (!is_small(self)) return;
    fuzz::Call cast(expr::cast_function());
    cast.add(self);
    const int64_t form = bytes_.up_to(5);
    const auto format = static_cast<MemoryFormat>(bytes_.up_to(3));
    Tensor result;
    if (form == 0) result = self.clone(format);
    if (form == 1) result = self.contiguous(format);
    if (form == 2) result = self.detach();
    if (form == 3) result = self.to(Device::meta);
    if (form == 4) result = self.sum_to_size(fuzz::draw_list(bytes_));
    if (form == 5) result = self.to(bytes_.dtype(), bytes_.flag(), format);
    fuzz::check_tensor(result);
    if (form <= 1 && format != MemoryFormat::preserve) CLAIM_OF(result.is_contiguous(format), fuzz::describe(result));
    cast.add(result.dtype());
    if (form != 4) fuzz::check_elementwise(cast, result);
    keep(result);
  }

  /// Reads or writes through index tensors and masks.
  const Tensor* put(const char*& name) {
    written_ = pick();
    const Tensor value = pick();
    std::vector<Tensor> places;
    std::vector<Index> items;
    places.reserve(3);
    fuzz::Wide count = written_.numel();
    for (int64_t left = bytes_.up_to(3); left > 0; --left) {
      const int64_t form = bytes_.up_to(7);
      if (form == 0) items.push_back(Slice(fuzz::draw_bound(bytes_), fuzz::draw_bound(bytes_), 1 + bytes_.up_to(2)));
      if (form == 1) items.push_back(None);
      if (form == 2) items.push_back(bytes_.integer());
      if (form >= 3) {
        places.push_back(form == 3 ? pick().to(Dtype::int64) : pick());
        if (!is_small(places.back())) return nullptr;
        count *= std::max<int64_t>(places.back().numel(), 1);
        if (count > (1 << 14)) return nullptr;
        items.push_back(places.back());
      }
    }
    if (count > (1 << 14) || value.numel() > (1 << 14)) return nullptr;
    const auto number = static_cast<int64_t>(items.size());
    if (bytes_.flag()) {
      const Tensor result = written_.index(items.data(), number);
      name = "index";
      fuzz::check_tensor(result);
      keep(result);
      return nullptr;
    }
    written_.index_put_(items.data(), number, value);
    name = "index_put_";
    return &written_;
  }

  void differentiate() {
    Tensor& self = pick();
    if (!is_small(self)) return;
    if (bytes_.flag()) {
      // A leaf that is a view keeps its base alive. If the base is then computed from the leaf, they form a reference
      // cycle, in PyTorch, too. So does a leaf that no longer requires grad and is then computed from its own graph.
      if (self.is_view()) return;
      self.requires_grad_(true);
      return;
    }
    std::vector<Tensor> all = tensors_;
    self.sum().backward();
    for (const Tensor& tensor : all) {
      if (!tensor.is_leaf() || !tensor.grad().defined()) continue;
      fuzz::check_tensor(tensor.grad());
    }
  }

  Bytes& bytes_;
  KnownCycles cycles_;
  std::vector<Tensor> tensors_;
  Tensor written_;             // the tensor that the step writes
  bool resized_only_ = false;  // its elements do not change
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  set_num_threads(1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  fuzz::check_keeps_nothing([&] {
    Bytes bytes(data, size);
    Machine(bytes).run();
  });
  return 0;
}
