// A word among the arguments: an algorithm whose body, bell.cpp, calls public functions, which have derivatives.

struct bell {
  static constexpr Row row{.signature = "bell(Tensor self, *, str shape='normal') -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "shape: normal cauchy",
                           .method = false,
                           .doc = "1 at 0, and less away from it: exp(-input^2 / 2), or 1 / (1 + input^2)."};
};
