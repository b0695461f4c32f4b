// An algorithm without derivatives: its body, blockprod.cpp, calls public functions, which have them.

struct blockprod {
  static constexpr Row row{.signature = "blockprod(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .doc = "The Kronecker product: every element of input times the whole of other."};
};
