// Which sanitizer a test runs under, for what it cannot do there.

#ifndef HEADSTART_TESTS_TESTING_SANITIZERS_H_
#define HEADSTART_TESTS_TESTING_SANITIZERS_H_

namespace headstart::testing {

// The compiler's own macro is hidden from whatever includes protobuf's headers (proto/CMakeLists.txt).
#if defined(__SANITIZE_THREAD__) || defined(_GLIBCXX_TSAN)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_SANITIZERS_H_
