// ops: tensors repeated, padded or with their elements in other places. Without formulas: dispatch/repeat.cpp,
// padding.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct channel_shuffle {
  static constexpr Row row{.signature = "channel_shuffle(Tensor self, int groups) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "groups: 1 2 3 4 0",
                           .method = false,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "channel_shuffle",
                           .grad_fn = "ChannelShuffleBackward0",
                           .doc = "The channels, dim 1, in another order: the first of each group, then the second."};
  template <class G>
  static auto grad_a(const G& g) {
    return channels_back(g.grad(), g.sizes(), g.integer("groups"));
  }
};

struct constant_pad_nd {
  static constexpr Row row{.signature = "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "pad: 1,2 1,0 -1,1 0,1,2,1",
                           .method = false,
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .grad_fn = "ConstantPadNdBackward0",
                           .doc =
                               "input with `value` before and after its last dims: pad has two numbers for each "
                               "dim, from the last one on. Negative numbers cut off."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad_padded(g.negative("pad").view());
  }
};

struct fliplr {
  static constexpr Row row{.signature = "fliplr(Tensor self) -> Tensor",
                           .numpy = "fliplr",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .doc = "flip along the second dim."};
};

struct flipud {
  static constexpr Row row{.signature = "flipud(Tensor self) -> Tensor",
                           .numpy = "flipud",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .doc = "flip along the first dim."};
};

struct one_hot {
  static constexpr Row row{.signature = "one_hot(Tensor self, int num_classes=-1) -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .values = "self: int64; num_classes: -1 3 6 40 -2 0",
                           .method = false,
                           .promotion = Promotion::place,
                           .dtypes = set_of(int64),
                           .doc = "1 at the place of each class and 0 elsewhere, in a new last dim."};
};

struct pad {
  static constexpr Row row{
      .signature = "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor",
      .numpy = "",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "pad: 1,2 1,0 -1,1 0,1,1,0; mode: constant reflect replicate circular",
      .method = false,
      .dtypes = kAllDtypes,
      .as_input = true,
      .doc =
          "input with more elements before and after its last dims: a number, or elements of input mirrored, "
          "repeated or from the other end."};
};

struct pixel_shuffle {
  static constexpr Row row{
      .signature = "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
      .kind = Kind::algorithm,
      .values = "upscale_factor: 1 2 3 0",
      .method = false,
      .dtypes = kUsual | kComplex,
      .kernel_name = "pixel_shuffle",
      .grad_fn = "PixelShuffleBackward0",
      .doc = "Images of a quarter of the channels and twice the height and width, for a factor 2."};
  template <class G>
  static auto grad_a(const G& g) {
    return unshuffled_back(g.grad(), g.integer("upscale_factor"));
  }
};

struct pixel_unshuffle {
  static constexpr Row row{.signature = "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "downscale_factor: 1 2 3 0",
                           .method = false,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "pixel_unshuffle",
                           .grad_fn = "PixelUnshuffleBackward0",
                           .doc = "The inverse of pixel_shuffle."};
  template <class G>
  static auto grad_a(const G& g) {
    return shuffled_back(g.grad(), g.integer("downscale_factor"));
  }
};

struct reflection_pad1d {
  static constexpr Row row{.signature = "reflection_pad1d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[2] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1 1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "reflection_pad1d",
                           .grad_fn = "ReflectionPad1DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last dim with mode='reflect'."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad_of_padding("reflect");
  }
};

struct reflection_pad2d : reflection_pad1d {
  static constexpr Row row{.signature = "reflection_pad2d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[4] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1,1,1 1,0,1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "reflection_pad2d",
                           .grad_fn = "ReflectionPad2DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last two dims with mode='reflect'."};
};

struct reflection_pad3d : reflection_pad1d {
  static constexpr Row row{.signature = "reflection_pad3d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[6] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1,1,1,1,1 1,0,1,0,1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "reflection_pad3d",
                           .grad_fn = "ReflectionPad3DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last three dims with mode='reflect'."};
};

struct repeat {
  static constexpr Row row{.signature = "repeat(Tensor self, int[] repeats) -> Tensor",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .values = "repeats: 2,1,3 1,2 2",
                           .function = false,
                           .dtypes = kAllDtypes,
                           .grad_fn = "RepeatBackward0",
                           .doc = "The whole tensor repeated so often along each dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_repeat(g.grad(), g.dims("repeats").view(), g.sizes());
  }
};

struct repeat_interleave {
  static constexpr Row row{
      .signature = "repeat_interleave(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "repeats: int64; output_size: 0 3 6",
      .dtypes = kUsual | kComplex,
      .as_input = true,
      .doc =
          "Each element along dim repeated so often. Without dim: of all elements as one vector. Of repeats alone: "
          "each place so often."};
};

struct repeat_interleave_places {
  static constexpr Row row{.signature = "repeat_interleave(Tensor repeats, *, int? output_size=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "repeats: int64; output_size: 0 3 6",
                           .method = false,
                           .dtypes = set_of(int32) | set_of(int64)};
};

struct repeat_interleave_number {
  static constexpr Row row{
      .signature = "repeat_interleave(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "repeats: 0 1 2 3 -1; output_size: 0 3 6",
      .dtypes = kAllDtypes};
};

struct replication_pad1d {
  static constexpr Row row{.signature = "replication_pad1d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[2] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1 1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "replication_pad1d",
                           .grad_fn = "ReplicationPad1DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last dim with mode='replicate'."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad_of_padding("replicate");
  }
};

struct replication_pad2d : replication_pad1d {
  static constexpr Row row{.signature = "replication_pad2d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[4] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1,1,1 1,0,1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "replication_pad2d",
                           .grad_fn = "ReplicationPad2DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last two dims with mode='replicate'."};
};

struct replication_pad3d : replication_pad1d {
  static constexpr Row row{.signature = "replication_pad3d(Tensor self, int[] padding) -> Tensor",
                           .module = "nn.functional",
                           .python = "(Tensor self, int[6] padding)",
                           .kind = Kind::algorithm,
                           .values = "padding: 1,1,1,1,1,1 1,0,1,0,1,0",
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "replication_pad3d",
                           .grad_fn = "ReplicationPad3DBackward0",
                           .flat_gradient = true,
                           .doc = "pad of the last three dims with mode='replicate'."};
};

struct rot90 {
  static constexpr Row row{
      .signature = "rot90(Tensor self, int k=1, int[]? dims=None) -> Tensor",
      .numpy = "rot90",
      .python = "(Tensor self, int k=1, int[] dims=(0,1))",
      .kind = Kind::algorithm,
      .values = "k: 1 0 2 3 4 -1 7; dims: 0,1 1,0 -1,0",
      .dtypes = kAllDtypes,
      .grad_fn = "Rot90Backward0",
      .doc = "The plane of two dims, (0, 1), turned k times by 90 degrees, from the first to the second."};
  template <class G>
  static auto grad_a(const G& g) {
    return turned_back(g.grad(), g.integer("k", 1), g.dims("dims"));
  }
};

struct tile {
  static constexpr Row row{.signature = "tile(Tensor self, int[] dims) -> Tensor",
                           .array_api = "tile",
                           .kind = Kind::algorithm,
                           .values = "dims: 2,1,3 1,2 2",
                           .dtypes = kAllDtypes,
                           .doc = "repeat; dims without a number are not repeated."};
};
