// A fold with a State of its own and two results.

struct moments {
  static constexpr Row row{.signature =
                               "moments(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
                               "Tensor[2] out=None) -> "
                               "(Tensor mean, Tensor square)",
                           .kind = Kind::fold,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .lanes = kWideFloats,
                           .kernel_name = "moments_cpu",
                           .ulp = 1,
                           .grad_fn = "MomentsBackward0",
                           .doc = "The means along dim of the elements and of their squares."};
  template <class V>
  struct State {
    V count, sum, squares;
  };
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.number(0), at.number(0), at.number(0)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    s.count = s.count + at.number(1);
    s.sum = s.sum + value;
    s.squares = mul_add(value, value, s.squares);
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    s.count = s.count + other.count;
    s.sum = s.sum + other.sum;
    s.squares = s.squares + other.squares;
  }
  template <class V>
  struct Results {
    V mean, square;
  };
  template <class V, class At>
  static Results<V> finish(const State<V>& s, const At&) {
    return {s.sum / s.count, s.squares / s.count};
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto one = g.over_dims(g.grad(0)), two = g.over_dims(g.grad(1));
    const double count = static_cast<double>(g.a().numel()) / static_cast<double>(one.numel());
    return (one + two * g.a() * 2) / count;
  }
};
