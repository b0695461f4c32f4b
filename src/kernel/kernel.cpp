// The choice of the instruction set, made once.
#include "kernel/kernel.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "tenon/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

void fill_float32(KernelTable& table);
void fill_float64(KernelTable& table);
void fill_wide_integers(KernelTable& table);
void fill_narrow_integers(KernelTable& table);
void fill_casts(KernelTable& table);
void fill_moves(KernelTable& table);

KernelTable make_table() {
  KernelTable table{};
  table.name = hwy::TargetName(HWY_TARGET);
  fill_float32(table);
  fill_float64(table);
  fill_wide_integers(table);
  fill_narrow_integers(table);
  fill_casts(table);
  fill_moves(table);
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace {

HWY_EXPORT(make_table);

/// TENON_ISA limits the choice to one of the sets this build and this machine both have.
void apply_request() {
  const char* wanted = std::getenv("TENON_ISA");
  if (!wanted) return;
  int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  for (; targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    if (std::strcmp(hwy::TargetName(target), wanted) == 0) return hwy::SetSupportedTargetsForTest(target);
  }
}

KernelTable choose_table() {
  apply_request();
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return HWY_DYNAMIC_DISPATCH(make_table)();
}

}  // namespace

const KernelTable& kernels() noexcept {
  static const KernelTable table = choose_table();
  return table;
}

const char* instruction_set() noexcept { return kernels().name; }

const char* compiled_instruction_sets() noexcept {
  static const std::string names = [] {
    std::string text;
    for (int64_t targets = HWY_TARGETS; targets != 0; targets &= targets - 1) {
      if (!text.empty()) text += ' ';
      text += hwy::TargetName(targets & -targets);
    }
    return text;
  }();
  return names.c_str();
}

}  // namespace tenon
#endif
