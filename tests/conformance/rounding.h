// What rounding may do to a result: the pieces that the tolerances of the conformance suite are made of.
//
// A number kept with p significant bits is off by at most u = 2^-p of itself, evenly spread, so with a standard
// deviation of u / √3. A sum of many such errors is off by more than six of its standard deviations once in 10^9; the
// inputs of these tests are fixed, so that a result either is within or never is. Errors of f32 arithmetic are bounded
// in the worst case instead: they are small enough not to hide a missing term.

#ifndef HEADSTART_TESTS_CONFORMANCE_ROUNDING_H_
#define HEADSTART_TESTS_CONFORMANCE_ROUNDING_H_

#include <numbers>

namespace headstart::testing {

inline constexpr double kF32Unit = 0x1p-24;
inline constexpr double kBf16Unit = 0x1p-8;

// Six standard deviations of a rounding error of unit 1.
inline constexpr double kSixDeviations = 6 * std::numbers::inv_sqrt3;

// The kernels' exponential, by its contract.
inline constexpr double kExpError = 0x1p-22;

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_CONFORMANCE_ROUNDING_H_
