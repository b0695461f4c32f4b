// Calls that are not declared ops: views, copies, indexing, factories, printing, settings.
#include "faults.h"

namespace tenon::faults {
namespace {

Results both(Tensor first, Tensor second) {
  Tensors list;
  list.push_back(std::move(first));
  list.push_back(std::move(second));
  return list;
}

Dims with_leading(int64_t count, SizesView sizes) {
  Dims wider(count, 2);
  for (int64_t size : sizes) wider.push_back(size);
  return wider;
}

/// Calls for every kind of operands.
const std::vector<Named>& calls_on_tensors() {
  static const std::vector<Named> calls = {
      {"alias", [](Tensors& t) { return t[kA].view(t[kA].sizes()); }},
      {"detach", [](Tensors& t) { return t[kA].detach(); }},
      {"transpose", [](Tensors& t) { return t[kA].transpose(0, -1); }},
      {"t", [](Tensors& t) { return t[kA].t(); }},
      {"mT", [](Tensors& t) { return t[kA].mT(); }},
      {"permute",
       [](Tensors& t) {
         Dims order;
         for (int64_t dim = t[kA].dim(); dim-- > 0;) order.push_back(dim);
         return t[kA].permute(order);
       }},
      {"movedim", [](Tensors& t) { return t[kA].movedim(0, -1); }},
      {"expand", [](Tensors& t) { return t[kB].expand_as(t[kA]); }},
      {"expand to 12 dims", [](Tensors& t) { return t[kA].expand(with_leading(10, t[kA].sizes())); }},
      {"unsqueeze nine times",
       [](Tensors& t) {
         Tensor view = t[kA];
         for (int i = 0; i < 9; ++i) view = view.unsqueeze(0);
         return view;
       }},
      {"squeeze", [](Tensors& t) { return t[kA].squeeze(); }},
      {"squeeze a dim", [](Tensors& t) { return t[kA].squeeze(0); }},
      {"squeeze dims",
       [](Tensors& t) {
         return t[kA].squeeze({0, -1});
       }},
      {"select", [](Tensors& t) { return t[kA].select(-1, 1); }},
      {"slice", [](Tensors& t) { return t[kA].slice(-1, 1, 3); }},
      {"narrow", [](Tensors& t) { return t[kA].narrow(-1, 1, 2); }},
      {"narrow too far", [](Tensors& t) { return t[kA].narrow(-1, 1, 1 << 20); }},
      {"diagonal", [](Tensors& t) { return t[kA].diagonal(0, 0, -1); }},
      {"unfold", [](Tensors& t) { return t[kA].unfold(-1, 2, 1); }},
      {"as_strided",
       [](Tensors& t) {
         return t[kA].as_strided({2, 2}, {1, 1}, 1);
       }},
      {"flatten", [](Tensors& t) { return t[kA].flatten(); }},
      {"unflatten",
       [](Tensors& t) {
         return t[kA].unflatten(-1, {2, -1});
       }},
      {"unflatten wrongly",
       [](Tensors& t) {
         return t[kA].unflatten(-1, {7, 9});
       }},
      {"reshape", [](Tensors& t) { return t[kA].reshape({-1}); }},
      {"reshape with a copy", [](Tensors& t) { return t[kA].transpose(0, -1).reshape({-1}); }},
      {"view of a transpose", [](Tensors& t) { return t[kA].transpose(0, -1).view({-1}); }},
      {"broadcast_tensors",
       [](Tensors& t) {
         Tensor pair[] = {t[kA], t[kB]};
         broadcast_tensors(pair, 2);
         return both(pair[0], pair[1]);
       }},
      {"clone", [](Tensors& t) { return t[kA].clone(); }},
      {"contiguous", [](Tensors& t) { return t[kA].transpose(0, -1).contiguous(); }},
      {"to float64", [](Tensors& t) { return t[kA].to(float64); }},
      {"to bfloat16", [](Tensors& t) { return t[kA].to(bfloat16); }},
      {"to bool", [](Tensors& t) { return t[kA].to(bool_); }},
      {"to meta", [](Tensors& t) { return t[kA].to(Device::meta); }},
      {"copy_",
       [](Tensors& t) {
         t[kA].copy_(t[kB]);
         return done();
       }},
      {"copy_ with a cast",
       [](Tensors& t) {
         const Tensor converted = t[kB].to(int64);
         t[kA].copy_(converted);
         return done();
       }},
      {"copy_ onto its transpose",
       [](Tensors& t) {
         t[kA].transpose(0, -1).copy_(t[kA]);
         return done();
       }},
      {"fill_",
       [](Tensors& t) {
         t[kA].fill_(3);
         return done();
       }},
      {"fill_ with a tensor",
       [](Tensors& t) {
         t[kA].fill_(full({}, 3.f));
         return done();
       }},
      {"zero_ of every other",
       [](Tensors& t) {
         t[kA].slice(-1, 0, {}, 2).zero_();
         return done();
       }},
      {"resize_",
       [](Tensors& t) {
         t[kSame].resize_({t[kSame].numel()});
         return done();
       }},
      {"resize_ of an empty tensor",
       [](Tensors& t) {
         t[kOut].resize_({0, 30, 30});
         return done();
       }},
      {"resize_ of a clone",
       [](Tensors& t) {
         Tensor copy = t[kA].detach().clone();
         copy.resize_(with_leading(8, {300}));
         return done();
       }},
      {"item", [](Tensors& t) { return std::to_string(t[kA].sum().item<double>()); }},
      {"sum_to_size", [](Tensors& t) { return t[kA].sum_to_size(t[kB].sizes()); }},
      {"chain", [](Tensors& t) { return ((t[kA] - t[kB]) * (t[kA] + 2)).sum(0); }},
      {"nonzero_places", [](Tensors& t) { return Tensors(nonzero_places(t[kCondition])); }},
      {"index with a mask", [](Tensors& t) { return t[kA].index({t[kCondition]}); }},
      {"index with integers",
       [](Tensors& t) {
         const Tensor places = tensor({0, 1, -1});
         return t[kA].index({places});
       }},
      {"index out of range",
       [](Tensors& t) {
         const Tensor places = tensor({0, 100000});
         return t[kA].index({places});
       }},
      {"index with everything",
       [](Tensors& t) {
         const Tensor places = tensor({0, 1});
         return t[kA].index({places, None, Ellipsis, Slice(0, 2)});
       }},
      {"index with slices",
       [](Tensors& t) {
         return t[kA].index({Slice(0, 2), None, Ellipsis, 1});
       }},
      {"index_put_ with a mask",
       [](Tensors& t) {
         t[kA].index_put_({t[kCondition]}, full({}, 7.f).to(t[kA].dtype()));
         return done();
       }},
      {"index_put_ with integers",
       [](Tensors& t) {
         const Tensor places = tensor({0, 1});
         t[kA].index_put_({places}, full({}, 7.f).to(t[kA].dtype()));
         return done();
       }},
      {"index_put_ with slices",
       [](Tensors& t) {
         t[kA].index_put_({Slice(0, 2)}, full({}, 7.f).to(t[kA].dtype()));
         return done();
       }},
      {"to_string", [](Tensors& t) { return to_string(t[kA]); }},
      {"to_string of scientific numbers", [](Tensors& t) { return to_string(t[kA] * 1e-9); }},
      {"empty_like", [](Tensors& t) { return to_string(empty_like(t[kA]).sizes()); }},
      {"zeros_like", [](Tensors& t) { return zeros_like(t[kA]); }},
      {"full_like", [](Tensors& t) { return full_like(t[kA], 2, float64); }},
      {"rand_like",
       [](Tensors& t) {
         manual_seed(1);
         return rand_like(t[kA].detach().to(float32));
       }},
      {"randn_like",
       [](Tensors& t) {
         manual_seed(1);
         return randn_like(t[kA].detach().to(float32));
       }},
      {"under a policy that refuses",
       [](Tensors& t) {
         const PolicyGuard guard(parse_broadcast_policy("rank=raise,outer=raise,blow_up=2"));
         return t[kA] + t[kB];
       }},
      {"under a policy that warns",
       [](Tensors& t) {
         const PolicyGuard guard(parse_broadcast_policy("rank=warn,outer=warn"));
         return t[kA] + t[kB];
       }},
      {"with the broadcast warning",
       [](Tensors& t) {
         backcompat::set_broadcast_warning(true);
         struct Off {
           ~Off() { backcompat::set_broadcast_warning(false); }
         } after;
         return t[kA].flatten().unsqueeze(0) + t[kA].flatten().unsqueeze(1).slice(0, 0, 1);
       }},
      {"as 1-D",
       [](Tensors& t) {
         backcompat::set_pointwise_1d(true);
         struct Off {
           ~Off() { backcompat::set_pointwise_1d(false); }
         } after;
         return t[kA] + t[kA].flatten().slice(0, 0, {}, 1).reshape({2, -1});
       }},
  };
  return calls;
}

struct Hypot {
  static constexpr const char* name = "hypot";
  template <class T>
  static T forward(T a, T b) {
    return a * a + b * b;
  }
  static Tensor grad_a(const CustomGiven& g) { return g.grad() * g.a() * 2; }
  static Tensor grad_b(const CustomGiven& g) { return g.grad() * g.b() * 2; }
};
const CustomOp<Hypot>& hypot() {
  static const CustomOp<Hypot> op;
  return op;
}

const std::vector<Named>& custom_calls() {
  static const std::vector<Named> calls = {
      {"custom op", [](Tensors& t) { return hypot()(t[kA], t[kB]); }},
      {"custom op in place",
       [](Tensors& t) {
         hypot().inplace(t[kA], t[kB]);
         return done();
       }},
      {"custom op out=",
       [](Tensors& t) {
         const NoGrad no_grad;
         hypot().out(t[kOut], t[kA], t[kB]);
         return done();
       }},
      {"custom op backward",
       [](Tensors& t) {
         hypot()(t[kA], t[kB]).sum().backward();
         return done();  // the leaves' gradients are compared with the leaves
       }},
  };
  return calls;
}

/// Counts how often the deleter of a caller's buffer runs.
struct Buffer {
  float values[4] = {1, 2, 3, 4};
  int deleted = 0;
  static void release(void*, void* self) { ++static_cast<Buffer*>(self)->deleted; }
};

/// from_buffer owns the buffer if the call succeeds.
Results own_a_buffer(SizesView sizes) {
  auto buffer = std::make_unique<Buffer>();
  Buffer* raw = buffer.get();
  try {
    const Tensor made = from_buffer(raw->values, sizes, float32, &Buffer::release, raw);
    if (raw->deleted != 0) throw Error("the deleter ran while the tensor lived");
    return to_string(made);
  } catch (const std::exception&) {
    // The description may have failed after the tensor was made; the tensor is destroyed by now.
    if (raw->deleted > 1) throw Error("the deleter ran twice");
    throw;
  }
}

/// If from_buffer fails, the caller keeps the buffer and the deleter has not run.
Results refused_buffer() {
  Buffer buffer;
  Tensor made;
  try {
    made = from_buffer(buffer.values, {4}, float32, &Buffer::release, &buffer);
  } catch (const std::exception&) {
    if (buffer.deleted != 0) throw Error("the deleter ran although from_buffer failed");
    throw;
  }
  made = Tensor();
  if (buffer.deleted != 1) throw Error("the deleter ran " + std::to_string(buffer.deleted) + " times");
  return done();
}

const std::vector<Named>& calls_on_nothing() {
  static const std::vector<Named> calls = {
      {"empty",
       [](Tensors&) {
         return to_string(empty({3, 4}).sizes());
       }},
      {"empty, big",
       [](Tensors&) {
         return to_string(empty({300, 400}).sizes());
       }},
      {"empty, 10 dims", [](Tensors&) { return to_string(empty(with_leading(9, {3})).sizes()); }},
      {"empty, meta, 10 dims", [](Tensors&) { return empty(with_leading(9, {3}), Device::meta); }},
      {"empty, too large", [](Tensors&) { return empty({int64_t{1} << 58}); }},
      {"empty, overflow",
       [](Tensors&) {
         return empty({int64_t{1} << 62, 8});
       }},
      {"empty, negative",
       [](Tensors&) {
         return empty({3, -1});
       }},
      {"empty_strided",
       [](Tensors&) {
         return to_string(empty_strided({3, 4}, {1, 3}).strides());
       }},
      {"empty_strided, big, 10 dims",
       [](Tensors&) {
         const Dims sizes = with_leading(8, {20, 20});
         return to_string(empty_strided(sizes, contiguous_strides(sizes)).sizes());
       }},
      {"zeros",
       [](Tensors&) {
         return zeros({3, 4});
       }},
      {"ones, big",
       [](Tensors&) {
         return ones({300, 400});
       }},
      {"full",
       [](Tensors&) {
         return full({3, 4}, 2.5);
       }},
      {"full, out of range", [](Tensors&) { return full({3}, 300, uint8); }},
      {"arange", [](Tensors&) { return arange(10); }},
      {"arange, big", [](Tensors&) { return arange(0., 100000., .5); }},
      {"linspace", [](Tensors&) { return linspace(0, 1, 11); }},
      {"eye", [](Tensors&) { return eye(5); }},
      {"scalar_tensor", [](Tensors&) { return scalar_tensor(2); }},
      {"tensor",
       [](Tensors&) {
         return tensor({{1, 2}, {3, 4}});
       }},
      {"tensor, ragged",
       [](Tensors&) {
         return tensor({{1, 2}, {3}});
       }},
      {"from_buffer",
       [](Tensors&) {
         return own_a_buffer({2, 2});
       }},
      {"from_buffer, 8 dims",
       [](Tensors&) {
         return own_a_buffer({1, 1, 1, 1, 1, 1, 2, 2});
       }},
      {"from_buffer, refused", [](Tensors&) { return refused_buffer(); }},
      {"rand",
       [](Tensors&) {
         manual_seed(1);
         return rand({100});
       }},
      {"randn, big",
       [](Tensors&) {
         manual_seed(1);
         return randn({300, 400});
       }},
      {"randint",
       [](Tensors&) {
         manual_seed(1);
         return randint(0, 9, {100});
       }},
      {"generator",
       [](Tensors&) {
         Generator generator;
         generator.manual_seed(3);
         const GeneratorGuard guard(generator);
         return rand({10});
       }},
      {"broadcast_shapes, 10 dims",
       [](Tensors&) {
         return to_string(broadcast_shapes({with_leading(9, {3}), with_leading(10, {1})}));
       }},
      {"broadcast_shapes, mismatch",
       [](Tensors&) {
         return to_string(broadcast_shapes({{2, 3}, {4}}));
       }},
      {"parse_broadcast_policy",
       [](Tensors&) { return std::to_string(parse_broadcast_policy("rank=warn,outer=raise,blow_up=100").blow_up); }},
      {"parse_broadcast_policy, wrong",
       [](Tensors&) { return std::to_string(parse_broadcast_policy("rank=perhaps").blow_up); }},
      {"set_num_threads",
       [](Tensors&) {
         set_num_threads(get_num_threads());
         return done();
       }},
      {"set_num_threads, wrong",
       [](Tensors&) {
         set_num_threads(0);
         return done();
       }},
      {"set_default_dtype, wrong",
       [](Tensors&) {
         set_default_dtype(int64);
         return done();
       }},
      {"warn",
       [](Tensors&) {
         warn("UserWarning", std::string(200, 'w'), std::string(200, 'n'));
         return done();
       }},
      {"print options",
       [](Tensors&) {
         PrintOptions options;
         options.precision = 2;
         set_print_options(options);
         struct Back {
           ~Back() { set_print_options({}); }
         } after;
         return to_string(arange(6.).reshape({2, 3}));
       }},
      {"memory settings",
       [](Tensors&) {
         const int64_t cap = memory::cache_cap();
         memory::set_cache_cap(0);
         memory::set_cache_cap(cap);
         memory::trim();
         return done();
       }},
  };
  return calls;
}

}  // namespace

void add_tensor_cases(std::vector<Case>& cases) {
  for (const Operands& operands : operand_kinds())
    for (const std::vector<Named>* calls : {&calls_on_tensors(), &custom_calls()})
      for (const Named& named : *calls)
        cases.push_back({std::string(operands.name) + "/" + named.name, operands.make, named.call});
  for (const Named& named : calls_on_nothing())
    cases.push_back({std::string("nothing/") + named.name, [] { return Tensors(); }, named.call});
}

}  // namespace tenon::faults
