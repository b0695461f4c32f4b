// A size that depends on values: an algorithm that calls nonzero. Its body is places_of.cpp.

struct places_of {
  static constexpr Row row{.signature = "places_of(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The places of what is not 0: one row each; no columns for a number."};
};
