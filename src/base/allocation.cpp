#include "tenon/allocation.h"

#include <new>

namespace tenon {

void fail_allocation() { throw std::bad_array_new_length(); }

}  // namespace tenon
