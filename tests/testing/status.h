// Status checks for tests: Debian's Abseil has no matchers of its own.
//
//   ASSERT_OK(store.Check());
//   ASSERT_OK_AND_ASSIGN(auto blocks, store.Acquire(request));
//   EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("block_tokens")));

#ifndef HEADSTART_TESTS_TESTING_STATUS_H_
#define HEADSTART_TESTS_TESTING_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headstart::testing {

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

template <typename T>
std::string MessageOf(const T& result) {
  return std::string(ToStatus(result).message());
}

MATCHER(IsOk, "is OK") {
  *result_listener << "which is " << ToStatus(arg).ToString();
  return ToStatus(arg).ok();
}

MATCHER_P2(StatusIs, code, message, "has the code and a message that matches") {
  *result_listener << "which is " << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code && ::testing::Matches(message)(MessageOf(arg));
}

#define ASSERT_OK(expression) ASSERT_THAT(expression, ::headstart::testing::IsOk())
#define EXPECT_OK(expression) EXPECT_THAT(expression, ::headstart::testing::IsOk())

#define HEADSTART_CONCAT_INNER(a, b) a##b
#define HEADSTART_CONCAT(a, b) HEADSTART_CONCAT_INNER(a, b)
#define HEADSTART_ASSIGN(result, target, expression) \
  auto result = (expression);                        \
  ASSERT_OK(result);                                 \
  target = *std::move(result)
#define ASSERT_OK_AND_ASSIGN(target, expression) \
  HEADSTART_ASSIGN(HEADSTART_CONCAT(status_or_, __LINE__), target, expression)

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_STATUS_H_
