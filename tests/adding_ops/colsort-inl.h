// Order along a dim: an algorithm that calls sort. Its body is colsort.cpp.

struct colsort {
  static constexpr Row row{.signature = "colsort(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "order: any",
                           .doc = "The rows along the first dim in ascending order, each column on its own."};
};
