// No tensor among the arguments: a factory. Its body is tril_indices.cpp.

struct tril_indices {
  static constexpr Row row{.signature = "tril_indices(int row, int col, int offset=0) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The places on and below a diagonal: one row of rows and one of columns."};
};
