// system: what the operating system knows of the processor.
#pragma once
#include <cstdint>

namespace tenon::system {

/// Bytes of the last-level cache that this core uses; 0 if the system does not say.
int64_t last_cache_bytes() noexcept;
/// Asks for the registers of the processor's matrix unit. False: this process does not get them.
bool permit_matrix_registers() noexcept;

}  // namespace tenon::system
