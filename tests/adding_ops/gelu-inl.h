// A word among the arguments: an algorithm whose body, gelu.cpp, calls public functions, which have derivatives.

struct gelu {
  static constexpr Row row{.signature = "gelu(Tensor self, *, str approximate='none') -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "approximate: none tanh",
                           .method = false,
                           .doc = "Every element times the normal distribution up to it."};
};
