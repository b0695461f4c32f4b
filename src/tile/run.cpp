#include "tile/run.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "hwy/cache_control.h"
#include "tile/pool.h"
#include "tile/registers.h"

namespace tenon {
namespace {

// A tile's registers together should leave room in a 32 KiB first-level cache; see docs/benchmarks.md.
constexpr int64_t kTileBytes = 16 << 10;
constexpr int64_t kMinTile = 256, kMaxTile = 2048;
// Where one kernel streams whole runs, blocks this short keep loads and stores flowing side by side.
constexpr int64_t kStreamedBlockBytes = 2 << 10;
// Transposed operands are read in blocks: a cache line along memory, a long row across, so that each line is used up
// while it is at hand and kernels still get long rows.
constexpr int64_t kBlockColumnBytes = 1024;
constexpr int64_t kBlockRowBytes = 64, kMaxBlockRows = 16;
// Work for one part: below two of these the caller works alone.
constexpr int64_t kGrain = 32768;

const std::byte* at(const void* base, int64_t elements, int shift) {
  return static_cast<const std::byte*>(base) + (elements << shift);
}

/// What is decided once per run, before any thread starts.
struct Setup {
  const Plan& plan;
  const Program& program;
  std::byte* out;
  const void* const* inputs;
  bool store_direct = false;  // the kernel writes the output itself
  bool streaming = false;     // the output goes past the caches
  bool whole = false;         // one kernel works on whole runs of memory
  int64_t tile = 0;           // elements of a tile
  int64_t slot_bytes = 0;     // scratch for one register
  Slots slots;
};

/// Fills a contiguous tile from fused loops [0, dims); the last loop gives `rows`.
void load_block(const MoveKernels& move, std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides,
                int shift, int64_t dims, int64_t rows) {
  if (dims == 0) {
    std::memcpy(to, from, std::size_t{1} << shift);
  } else if (dims == 1) {
    move.gather(to, from, strides[0], rows, 0, 1);
  } else if (dims == 2) {
    move.gather(to, from, strides[0], plan.sizes[0], strides[1], rows);
  } else {
    int64_t inner = 1;
    for (int64_t dim = 0; dim < dims - 1; ++dim) inner *= plan.sizes[dim];
    for (int64_t row = 0; row < rows; ++row)
      load_block(move, to + ((row * inner) << shift), from + ((row * strides[dims - 1]) << shift), plan, strides, shift,
                 dims - 1, plan.sizes[dims - 2]);
  }
}

void store_block(const MoveKernels& move, std::byte* to, const std::byte* from, const Plan& plan,
                 const int64_t* strides, int shift, int64_t dims, int64_t rows) {
  if (dims == 0) {
    std::memcpy(to, from, std::size_t{1} << shift);
  } else if (dims == 1) {
    move.scatter(to, strides[0], rows, 0, 1, from);
  } else if (dims == 2) {
    move.scatter(to, strides[0], plan.sizes[0], strides[1], rows, from);
  } else {
    int64_t inner = 1;
    for (int64_t dim = 0; dim < dims - 1; ++dim) inner *= plan.sizes[dim];
    for (int64_t row = 0; row < rows; ++row)
      store_block(move, to + ((row * strides[dims - 1]) << shift), from + ((row * inner) << shift), plan, strides,
                  shift, dims - 1, plan.sizes[dims - 2]);
  }
}

/// Stores runs of memory past the caches. Only whole cache lines may leave that way: what does not fill one waits for
/// the run that continues it.
class StreamedOutput {
 public:
  explicit StreamedOutput(int64_t tile_bytes) : staging_(tile_bytes + kLine) {}
  ~StreamedOutput() { flush(); }

  /// Where to put up to a tile's bytes that belong at `to`.
  std::byte* room(std::byte* to) {
    if (to != next_ + pending_) {
      flush();
      next_ = to;
    }
    return staging_.data() + pending_;
  }
  /// `nbytes` were put into the room.
  void commit(int64_t nbytes) {
    pending_ += nbytes;
    const std::byte* from = staging_.data();
    const int64_t head = (kLine - static_cast<int64_t>(reinterpret_cast<uintptr_t>(next_) % kLine)) % kLine;
    if (pending_ < head + kLine) return;
    if (head > 0) std::memcpy(next_, from, static_cast<std::size_t>(head));
    const int64_t lines = (pending_ - head) / kLine * kLine;
    kernels().stream(next_ + head, from + head, lines);
    next_ += head + lines;
    pending_ -= head + lines;
    if (pending_ > 0) std::memmove(staging_.data(), from + head + lines, static_cast<std::size_t>(pending_));
  }

 private:
  static constexpr int64_t kLine = 64;

  void flush() {
    if (pending_ > 0) std::memcpy(next_, staging_.data(), static_cast<std::size_t>(pending_));
    pending_ = 0;
  }

  Scratch staging_;
  std::byte* next_ = nullptr;
  int64_t pending_ = 0;
};

/// Runs the tiles of one part of the work.
class TileLoop {
 public:
  explicit TileLoop(const Setup& setup)
      : setup_(setup),
        plan_(setup.plan),
        program_(setup.program),
        registers_(setup.program, setup.slots, setup.slot_bytes),
        streamed_(setup.streaming && !setup.whole
                      ? setup.tile * itemsize(setup.program.dtype(setup.program.result())) + 64
                      : 0),
        built_(program_.inputs()) {
    for (auto& base : built_) base = nullptr;
  }

  /// Tiles [begin, end) of the fused loops; `per_flat` of them make one turn of the outer counter.
  void run_fused(int64_t begin, int64_t end, int64_t per_flat) {
    SmallVector<int64_t, 8> dims;
    for (int64_t dim = plan_.fused; dim < plan_.ndim(); ++dim) dims.push_back(dim);
    OuterCounter outer(plan_, dims, begin / per_flat);
    int64_t index = begin % per_flat;
    for (int64_t t = begin; t < end; ++t) {
      const int64_t start = index * setup_.tile;
      const int64_t n = std::min(setup_.tile, plan_.flat - start);
      if (setup_.whole) {
        run_whole(outer, start, n);
      } else {
        for (int i = 0; i < program_.inputs(); ++i) load(i, outer[i + 1], start, n);
        execute_and_store(outer[0], start, n);
      }
      if (++index == per_flat) {
        index = 0;
        outer.advance();
      }
    }
  }

  /// One kernel call on a run of memory, or, past the caches, on short blocks of it.
  void run_whole(const OuterCounter& outer, int64_t start, int64_t n) {
    const Instruction& instruction = program_.instructions()[0];
    Lanes in[3];
    for (int operand = 0; operand < instruction.arity; ++operand) {
      const int i = instruction.in[operand];
      const int64_t step = plan_.operands[i + 1].way == Way::direct ? 1 : 0;
      in[operand] = {at(setup_.inputs[i], outer[i + 1] + start * step, shift_of(program_.dtype(i))), step};
    }
    const int shift = shift_of(program_.dtype(program_.result()));
    std::byte* to = setup_.out + ((outer[0] + start) << shift);
    const uintptr_t misaligned = reinterpret_cast<uintptr_t>(to) % 64;
    const int64_t head = static_cast<int64_t>((64 - misaligned) % 64) >> shift;
    const bool aligns = misaligned % (uintptr_t{1} << shift) == 0;
    if (!setup_.streaming || !aligns || n < 2 * head + (64 >> shift)) return instruction.kernel(to, in, n);
    const auto advance = [&](int64_t elements) {
      to += elements << shift;
      n -= elements;
      for (int operand = 0; operand < instruction.arity; ++operand)
        in[operand].data =
            at(in[operand].data, elements * in[operand].step, shift_of(program_.dtype(instruction.in[operand])));
    };
    if (head > 0) {
      instruction.kernel(to, in, head);
      advance(head);
    }
    alignas(64) std::byte block[kStreamedBlockBytes];
    while (n >= (64 >> shift)) {
      const int64_t elements = std::min(kStreamedBlockBytes, (n << shift) / 64 * 64) >> shift;
      instruction.kernel(block, in, elements);
      kernels().stream(to, block, elements << shift);
      advance(elements);
    }
    if (n > 0) instruction.kernel(to, in, n);
  }

  /// Blocks over the innermost loop and the one along which transposed operands lie, for every turn of the others.
  void run_transposed(int64_t begin, int64_t end, int64_t block_rows) {
    const int64_t along = plan_.transposed;
    const int64_t blocks_along = (plan_.sizes[along] + block_rows - 1) / block_rows;
    for (int64_t t = begin; t < end; ++t) {
      const int64_t row = t % blocks_along * block_rows;
      const int64_t rows = std::min(block_rows, plan_.sizes[along] - row);
      const auto offsets = offsets_without(along, t / blocks_along, row);
      for (int64_t start = 0; start < plan_.sizes[0]; start += setup_.tile)
        run_block(offsets, start, std::min(setup_.tile, plan_.sizes[0] - start), rows);
    }
  }

 private:
  using Offsets = SmallVector<int64_t, 8>;

  /// Offsets at turn `index` of the outer loops other than `along`, which stands at `row`.
  Offsets offsets_without(int64_t along, int64_t index, int64_t row) const {
    Offsets offsets(plan_.operands.size());
    for (int64_t operand = 0; operand < offsets.size(); ++operand)
      offsets[operand] = row * plan_.strides_of(operand)[along];
    for (int64_t dim = 1; dim < plan_.ndim(); ++dim) {
      if (dim == along) continue;
      const int64_t i = index % plan_.sizes[dim];
      index /= plan_.sizes[dim];
      for (int64_t operand = 0; operand < offsets.size(); ++operand)
        offsets[operand] += i * plan_.strides_of(operand)[dim];
    }
    return offsets;
  }

  void run_block(const Offsets& offsets, int64_t start, int64_t columns, int64_t rows) {
    for (int i = 0; i < program_.inputs(); ++i) {
      if (plan_.operands[i + 1].way != Way::transposed) continue;
      const int shift = shift_of(program_.dtype(i));
      const int64_t stride = plan_.strides_of(i + 1)[0];
      kernels().move[shift].transpose(registers_.slot(i), setup_.tile,
                                      at(setup_.inputs[i], offsets[i + 1] + start * stride, shift), stride, rows,
                                      columns);
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int i = 0; i < program_.inputs(); ++i) {
        if (plan_.operands[i + 1].way == Way::transposed)
          registers_[i] = {registers_.slot(i) + ((row * setup_.tile) << shift_of(program_.dtype(i))), 1};
        else
          load(i, offsets[i + 1] + row * plan_.strides_of(i + 1)[plan_.transposed], start, columns);
      }
      execute_and_store(offsets[0] + row * plan_.strides_of(0)[plan_.transposed], start, columns);
    }
  }

  /// Brings `n` elements of input i, from `start` of the fused loops on, to contiguous lanes.
  void load(int i, int64_t offset, int64_t start, int64_t n) {
    const Plan::Operand& operand = plan_.operands[i + 1];
    const int64_t* strides = plan_.strides_of(i + 1);
    const int shift = shift_of(program_.dtype(i));
    const std::byte* base = at(setup_.inputs[i], offset, shift);
    switch (operand.way) {
      case Way::direct:
        registers_[i] = {base + (start << shift), 1};
        return;
      case Way::splat:
        registers_[i] = {base, 0};
        return;
      case Way::periodic:
        if (built_[i] != base) build_pattern(i, base, strides, operand.length, shift);
        registers_[i] = {registers_.slot(i), 1};
        return;
      case Way::repeated:
        kernels().move[shift].repeat(registers_.slot(i), base + ((start / operand.length) << shift), operand.length,
                                     n / operand.length);
        registers_[i] = {registers_.slot(i), 1};
        return;
      case Way::transposed:
      case Way::gather: {
        const int64_t last = plan_.fused - 1;
        const int64_t row = start / plan_.unit;
        load_block(kernels().move[shift], registers_.slot(i), base + ((row * strides[last]) << shift), plan_, strides,
                   shift, plan_.fused, n / plan_.unit);
        registers_[i] = {registers_.slot(i), 1};
        return;
      }
    }
  }

  /// Lays the pattern down once and doubles it until the tile is full.
  void build_pattern(int i, const std::byte* base, const int64_t* strides, int64_t length, int shift) {
    int64_t dims = 0, inner = 1;
    while (inner < length) inner *= plan_.sizes[dims++];
    load_block(kernels().move[shift], registers_.slot(i), base, plan_, strides, shift, dims,
               dims > 0 ? plan_.sizes[dims - 1] : 1);
    const int64_t total = std::min(setup_.tile, plan_.flat);
    for (int64_t filled = length; filled < total;) {
      const int64_t more = std::min(filled, total - filled);
      std::memcpy(registers_.slot(i) + (filled << shift), registers_.slot(i), static_cast<std::size_t>(more << shift));
      filled += more;
    }
    built_[i] = base;
  }

  void execute_and_store(int64_t offset, int64_t start, int64_t n) {
    const int shift = shift_of(program_.dtype(program_.result()));
    std::byte* to = setup_.out + (offset << shift);
    if (setup_.streaming) return stream(to + (start << shift), n, shift);
    std::byte* direct = setup_.store_direct ? to + (start << shift) : nullptr;
    const Lanes result = registers_.execute(direct, n);
    if (result.data != direct) store(to, result, start, n, shift);
  }

  void stream(std::byte* to, int64_t n, int shift) {
    std::byte* room = streamed_.room(to);
    const Lanes result = registers_.execute(room, n);
    if (result.step == 0)
      kernels().move[shift].fill(room, result.data, n);
    else if (result.data != room)
      std::memcpy(room, result.data, static_cast<std::size_t>(n << shift));
    streamed_.commit(n << shift);
  }

  void store(std::byte* to, const Lanes& result, int64_t start, int64_t n, int shift) {
    const MoveKernels& move = kernels().move[shift];
    if (plan_.operands[0].way == Way::direct || n == 1) {
      std::byte* run = to + (start << shift);
      if (result.step == 0)
        move.fill(run, result.data, n);
      else
        std::memcpy(run, result.data, static_cast<std::size_t>(n << shift));
      return;
    }
    const std::byte* from = static_cast<const std::byte*>(result.data);
    if (result.step == 0) {
      move.fill(registers_.slot(program_.result()), result.data, n);
      from = registers_.slot(program_.result());
    }
    const int64_t* strides = plan_.strides_of(0);
    const int64_t row = start / plan_.unit;
    store_block(move, to + ((row * strides[plan_.fused - 1]) << shift), from, plan_, strides, shift, plan_.fused,
                n / plan_.unit);
  }

  const Setup& setup_;
  const Plan& plan_;
  const Program& program_;
  Registers registers_;
  StreamedOutput streamed_;
  SmallVector<const std::byte*, 8> built_;  // the base a periodic input's pattern was built from
};

/// Whether the output's elements are written without having been read: only then streaming pays.
bool output_is_fresh(const Setup& setup) {
  for (int i = 0; i < setup.program.inputs(); ++i)
    if (setup.inputs[i] == setup.out) return false;
  return true;
}

/// Which inputs need no slot: the tile is the memory itself.
SmallVector<bool, 8> inputs_in_place(const Plan& plan) {
  SmallVector<bool, 8> in_place(plan.operands.size() - 1);
  for (int64_t i = 0; i < in_place.size(); ++i)
    in_place[i] = plan.operands[i + 1].way == Way::direct || plan.operands[i + 1].way == Way::splat;
  return in_place;
}

/// Whether every tile is a run of memory on which a single kernel works: then runs need not be cut.
bool runs_whole(const Plan& plan, const Program& program) {
  if (program.instructions().size() != 1 || plan.operands[0].way != Way::direct) return false;
  bool any_direct = false;
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand) {
    const Way way = plan.operands[operand].way;
    if (way != Way::direct && way != Way::splat) return false;
    any_direct = any_direct || way == Way::direct;
  }
  return any_direct;
}

/// Whether every row of the output begins on a cache line: rows that are written apart must not share one.
bool rows_are_aligned(const Plan& plan, const void* out, int64_t itemsize) {
  if (reinterpret_cast<uintptr_t>(out) % 64 != 0) return false;
  for (int64_t dim = 1; dim < plan.ndim(); ++dim)
    if (plan.strides_of(0)[dim] * itemsize % 64 != 0) return false;
  return true;
}

int64_t transposed_itemsize(const Plan& plan, const Program& program) {
  int64_t bytes = 1;
  for (int i = 0; i < program.inputs(); ++i)
    if (plan.operands[i + 1].way == Way::transposed) bytes = std::max(bytes, itemsize(program.dtype(i)));
  return bytes;
}

int64_t choose_tile(const Setup& setup) {
  const Plan& plan = setup.plan;
  if (setup.whole) return plan.numel >= 2 * kGrain ? std::max(kGrain / plan.unit, int64_t{1}) * plan.unit : plan.flat;
  const int64_t slots = std::max<int64_t>(setup.slots.count, 1);
  const int64_t wanted = std::clamp(kTileBytes / setup.program.widest() / slots, kMinTile, kMaxTile);
  const int64_t largest = std::max(wanted / plan.unit, int64_t{1}) * plan.unit;
  if (largest >= plan.flat) return plan.flat;
  // Tiles of equal length: a short one at the end costs as much as a long one.
  const int64_t tiles = (plan.flat + largest - 1) / largest, units = plan.flat / plan.unit;
  return (units + tiles - 1) / tiles * plan.unit;
}

/// Bytes of the last-level cache this core sees; sysconf counts those of all sockets' cores on some processors.
int64_t last_cache_bytes() noexcept {
  for (const char* path :
       {"/sys/devices/system/cpu/cpu0/cache/index3/size", "/sys/devices/system/cpu/cpu0/cache/index2/size"}) {
    std::FILE* file = std::fopen(path, "r");
    if (!file) continue;
    long size = 0;
    char unit = 0;
    const bool read = std::fscanf(file, "%ld%c", &size, &unit) == 2;
    std::fclose(file);
    if (read && size > 0) return static_cast<int64_t>(size) << (unit == 'M' ? 20 : 10);
  }
  return int64_t{32} << 20;
}

/// Splits `tiles` tiles of equal work into parts for the threads.
template <class Body>
void split(int64_t tiles, int64_t numel, const Body& body) {
  const int64_t parts = std::clamp<int64_t>(numel / kGrain, 1, std::min<int64_t>(tiles, 4 * 64));
  parallel_for(parts, [&](int64_t part) {
    body(tiles * part / parts, tiles * (part + 1) / parts);
    hwy::FlushStream();  // streamed stores become visible before the caller is told
  });
}

}  // namespace

int64_t streaming_threshold() noexcept {
  // A quarter of the last cache: the operands want their share of it, too.
  static const int64_t threshold = std::max<int64_t>(last_cache_bytes() / 4, int64_t{1} << 20);
  return threshold;
}

void run(const Plan& plan, const Program& program, void* out, const void* const* inputs) {
  if (plan.numel == 0) return;
  Setup setup{.plan = plan, .program = program, .out = static_cast<std::byte*>(out), .inputs = inputs, .slots = {}};
  setup.slots = assign_slots(program, inputs_in_place(plan));
  const int64_t result_bytes = plan.numel * itemsize(program.dtype(program.result()));
  const bool dense = plan.operands[0].way == Way::direct;
  setup.streaming = dense && result_bytes > streaming_threshold() && output_is_fresh(setup);
  if (plan.transposed != 0 && !rows_are_aligned(plan, out, itemsize(program.dtype(program.result()))))
    setup.streaming = false;
  setup.store_direct = dense && !setup.streaming;
  setup.whole = plan.transposed == 0 && runs_whole(plan, program);
  setup.tile = choose_tile(setup);
  setup.slot_bytes = (setup.tile * program.widest() + 63) / 64 * 64;
  if (plan.transposed != 0) {
    const int64_t block_rows =
        std::min({kBlockRowBytes / transposed_itemsize(plan, program), kMaxBlockRows, plan.sizes[plan.transposed]});
    setup.tile = std::min(kBlockColumnBytes / program.widest(), plan.sizes[0]);
    setup.slot_bytes = setup.tile * block_rows * program.widest();
    const int64_t turns = plan.numel / plan.sizes[0] / plan.sizes[plan.transposed];
    const int64_t tiles = turns * ((plan.sizes[plan.transposed] + block_rows - 1) / block_rows);
    split(tiles, plan.numel,
          [&](int64_t begin, int64_t end) { TileLoop(setup).run_transposed(begin, end, block_rows); });
  } else {
    const int64_t per_flat = (plan.flat + setup.tile - 1) / setup.tile;
    const int64_t tiles = plan.numel / plan.flat * per_flat;
    split(tiles, plan.numel, [&](int64_t begin, int64_t end) { TileLoop(setup).run_fused(begin, end, per_flat); });
  }
}

}  // namespace tenon
