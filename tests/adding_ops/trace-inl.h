// An algorithm whose body is trace.cpp.

struct trace {
  static constexpr Row row{.signature = "trace(Tensor self) -> Tensor",
                           .numpy = "trace",
                           .kind = Kind::algorithm,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "trace",
                           .grad_fn = "TraceBackward0",
                           .doc = "The sum of the diagonal of a matrix."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.on_diagonal(0, 0, 1);
  }
};
