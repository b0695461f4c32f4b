// A join: an algorithm of a list of tensors, which calls cat. Its body is side_by_side.cpp.

struct side_by_side {
  static constexpr Row row{.signature = "side_by_side(Tensor[] tensors) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The tensors side by side: along the first dim of vectors, else along the second."};
};
