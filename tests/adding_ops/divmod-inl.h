// Several results: an algorithm that calls functions with derivatives. Its body is divmod.cpp.

struct divmod {
  static constexpr Row row{.signature = "divmod(Tensor self, Tensor other) -> (Tensor quotient, Tensor remainder)",
                           .kind = Kind::algorithm,
                           .method = false,
                           .doc = "The quotient rounded down, and what remains."};
};
