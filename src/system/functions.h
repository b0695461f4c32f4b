// system: functions of the C library that systems name in different ways.
#pragma once

namespace tenon::system {

/// log(abs(gamma(x))). Not std::lgamma, which may write a global variable, the sign.
float log_gamma(float x) noexcept;
double log_gamma(double x) noexcept;

}  // namespace tenon::system
