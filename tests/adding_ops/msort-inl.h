// Order along a dim: an algorithm that calls sort. Its body is msort.cpp.

struct msort {
  static constexpr Row row{.signature = "msort(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "order: any",
                           .doc = "The rows along the first dim in ascending order, each column on its own."};
};
