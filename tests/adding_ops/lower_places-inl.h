// No tensor among the arguments: a factory. Its body is lower_places.cpp.

struct lower_places {
  static constexpr Row row{.signature = "lower_places(int row, int col, int offset=0) -> Tensor",
                           .kind = Kind::algorithm,
                           .doc = "The places on and below a diagonal: one row of rows and one of columns."};
};
