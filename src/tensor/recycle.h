// tensor: takes a number of bytes; gives a block that was used before where it can, because fresh pages cost more
// than arithmetic. Small blocks are kept per thread, large ones in one shared cache.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tenon/storage.h"

namespace tenon {

/// Moves the elements of a recycled storage to a larger block.
void grow_storage(Storage* storage, int64_t nbytes);

namespace recycle {

/// At least `nbytes` bytes, aligned to 64. OutOfMemoryError.
void* allocate(int64_t nbytes);
/// Takes back what `allocate(nbytes)` gave.
void deallocate(void* block, int64_t nbytes) noexcept;

}  // namespace recycle
}  // namespace tenon
