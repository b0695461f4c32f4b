// An algorithm without derivatives: its body, kron.cpp, calls public functions, which have them.

struct kron {
  static constexpr Row row{.signature = "kron(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "kron",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .doc = "The Kronecker product: every element of input times the whole of other."};
};
