// A join: an algorithm of a list of tensors, which calls cat. Its body is hstack.cpp.

struct hstack {
  static constexpr Row row{.signature = "hstack(Tensor[] tensors) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The tensors side by side: along the first dim of vectors, else along the second."};
};
