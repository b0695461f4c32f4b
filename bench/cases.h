// bench: a case is one op over given operands, on both libraries. Takes operands and an op; gives work to be timed.
#pragma once
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libraries.h"

namespace bench {

/// Runs the op `repeats` times over operands it owns.
using Work = std::function<void(int64_t repeats)>;
/// Makes the operands. They live as long as the work.
using Prepare = std::function<Work()>;

/// How a case is named and judged.
struct Header {
  std::string name;
  double ratio_target = 1;  // PyTorch's time / Tenon's: at least this. 1: not slower; 0: none
  double ns_target = 0;     // Tenon's time: at most this. 0: none
  int64_t bytes = 0;        // read and written by the op; 0: too small to count
  int threads = 1;          // 0: every core
};

struct Case {
  Header header;
  Prepare tenon;
  Prepare torch;        // empty, or gives empty work: PyTorch has no such function, or is not there
  Prepare limit = {};   // what no call can be faster than; empty: not measured
  Prepare nested = {};  // loops written for this call; empty, or gives empty work: not measured
};

template <class Library>
struct Operands {
  typename Library::Tensor out{}, a{}, b{}, c{};
  typename Library::DimList dims{};
};

template <class Library, class Make, class Op>
Prepare prepare(Make make, Op op) {
  return [make, op]() -> Work {
    // Shared, because std::function copies what it holds.
    auto operands = std::make_shared<Operands<Library>>(make(Library{}));
    return [operands, op](int64_t repeats) {
      for (int64_t i = 0; i < repeats; ++i) {
        op(*operands);
        benchmark::ClobberMemory();
      }
    };
  };
}

class Cases {
 public:
  /// `make(library)` gives Operands<library>; `op(operands)` is what is timed, the end of its result's life included.
  template <class Make, class Op>
  void add(Header header, Make make, Op op) {
    Prepare torch;
#ifdef TENON_BENCH_TORCH
    torch = prepare<Torch>(make, op);
#endif
    all_.push_back({std::move(header), prepare<Tenon>(make, op), std::move(torch), {}, {}});
  }
  template <class Make, class Op>
  void add_tenon_only(Header header, Make make, Op op) {
    all_.push_back({std::move(header), prepare<Tenon>(make, op), {}, {}, {}});
  }
  void add(Case c) { all_.push_back(std::move(c)); }
  const std::vector<Case>& all() const { return all_; }

 private:
  std::vector<Case> all_;
};

void add_tiny_cases(Cases& cases);
void add_large_cases(Cases& cases);
void add_reduce_cases(Cases& cases);
void add_grad_cases(Cases& cases);
void add_order_cases(Cases& cases);
void add_index_cases(Cases& cases);
void add_thread_cases(Cases& cases);
void add_fuse_cases(Cases& cases);
/// Every declared op, apart from the cases above: they have no targets and no place in the table of ratios.
struct MapKind;
void add_op_cases(Cases& cases, const MapKind& map);

}  // namespace bench
