// ops: searching and counting values. None has a derivative but the ops of which it is composed.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct searchsorted {
  static constexpr Row row{
      .signature =
          "searchsorted(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
          "side=None, Tensor? sorter=None, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "side: left right",
      .by_hand = true,
      .method = false,
      .promotion = Promotion::place,
      .dtypes = kNoBool,
      .kernel_name = "searchsorted_out_cpu",
      .strict_out = true,
      .doc =
          "For each element the place in the last dim of sorted_sequence before which it keeps the order; with "
          "right=True the last such place."};
};

struct searchsorted_number {
  static constexpr Row row{
      .signature =
          "searchsorted(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? "
          "side=None, Tensor? sorter=None, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "side: left right",
      .by_hand = true,
      .method = false,
      .promotion = Promotion::place,
      .dtypes = kNoBool,
      .accepts = kUsual,
      .kernel_name = "searchsorted_out_cpu",
      .strict_out = true};
};

/// Calls searchsorted.
struct bucketize {
  static constexpr Row row{
      .signature =
          "bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None) "
          "-> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .promotion = Promotion::place,
      .dtypes = kNoBool,
      .strict_out = true,
      .doc = "For each element the number of the interval between sorted boundaries that it lies in."};
};

struct bucketize_number {
  static constexpr Row row{
      .signature = "bucketize(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
      .kind = Kind::algorithm,
      .method = false,
      .promotion = Promotion::place,
      .dtypes = kNoBool,
      .accepts = kUsual};
};

struct isin {
  static constexpr Row row{
      .signature =
          "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor "
          "out=None) -> Tensor",
      .array_api = "isin",
      .kind = Kind::algorithm,
      .values = "assume_unique: False",
      .by_hand = true,
      .promotion = Promotion::comparison,
      .dtypes = kNoBool,
      .kernel_name = "isin_default_cpu",
      .doc =
          "Whether each element occurs in test_elements; with invert=True whether it does not. If test_elements are "
          "many, they may be uint16, uint32 or uint64, too."};
};

struct isin_of_number {
  static constexpr Row row{
      .signature =
          "isin(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor "
          "out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "assume_unique: False",
      .by_hand = true,
      .promotion = Promotion::comparison,
      .dtypes = kNoBool,
      .kernel_name = "isin_default_cpu"};
};

struct isin_number {
  static constexpr Row row{
      .signature =
          "isin(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False, Tensor "
          "out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "assume_unique: False",
      .by_hand = true,
      .promotion = Promotion::comparison,
      .dtypes = kAllNumbers};
};

struct histc {
  static constexpr Row row{
      .signature = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "bins: 1 3 5 100 0 -1; min: 0 -2 -5.5 1 nan; max: 0 3 7.25 1 inf",
      .by_hand = true,
      .dtypes = kFloats,
      .kernel_name = "histogram_cpu",
      .doc =
          "How many elements lie in each of as many intervals of equal width from min to max; of the elements' range "
          "if both are equal."};
};

struct histogram_edges {
  static constexpr Row row{
      .signature =
          "histogram(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[2] out=None) -> "
          "(Tensor hist, Tensor bin_edges)",
      .kind = Kind::algorithm,
      .shapes = "ij,k,ij",
      .by_hand = true,
      .one_dtype = true,
      .dtypes = kFloats,
      .kernel_name = "histogram_cpu",
      .doc =
          "How many elements, or the sum of their weights, lie in each interval between neighbouring edges, and the "
          "edges. With density, what each interval has of the whole, by its width."};
};

struct histogram {
  static constexpr Row row{
      .signature =
          "histogram(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False, "
          "Tensor[2] out=None) -> (Tensor hist, Tensor bin_edges)",
      .kind = Kind::algorithm,
      .shapes = "ij,ij",
      .values = "bins: 1 3 5 100 0 -1",
      .by_hand = true,
      .one_dtype = true,
      .dtypes = kFloats,
      .kernel_name = "histogram_cpu",
      .doc = "The same for bins intervals of equal width between the two numbers of range, or of the elements' range."};
};

struct bincount {
  static constexpr Row row{.signature = "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "self: int64; minlength: 0 0 3 20 -1",
                           .promotion = Promotion::place,
                           .dtypes = kUsualIntegers,
                           .kernel_name = "bincount_cpu",
                           .doc =
                               "How often each number from 0 on occurs in a vector, or the sum of its weights, which "
                               "is float32 if these are, and float64 otherwise."};
};

/// Python's function gives what is asked for only.
struct unique {
  static constexpr Row row{
      .signature =
          "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
          "Tensor, Tensor)",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllReal,
      .kernel_name = "unique",
      .doc =
          "The different elements in ascending order; for each element its place among them, and how often each "
          "occurs."};
};

struct unique_dim {
  static constexpr Row row{
      .signature =
          "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
          "-> (Tensor, Tensor, Tensor)",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllReal,
      .kernel_name = "unique_dim",
      .doc = "The different slices along dim in ascending order, the place of each, and how often each occurs."};
};

struct unique_consecutive {
  static constexpr Row row{
      .signature =
          "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
          "(Tensor, Tensor, Tensor)",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllReal,
      .kernel_name = "unique",
      .doc = "The elements, or slices along dim, without those that equal the one before; otherwise like unique."};
};
