// A size that depends on values: an algorithm that calls nonzero. Its body is argwhere.cpp.

struct argwhere {
  static constexpr Row row{.signature = "argwhere(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The places of what is not 0: one row each; no columns for a number."};
};
