# One cc_library a folder, tests that mirror the tree. Sources are listed, never globbed.

include(GoogleTest)

function(_headstart_common target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# cc_library(NAME engine_text SRCS a.cc b.cc DEPS absl::status ...): the library headstart_<NAME>, alias headstart::<NAME>.
# Headers need not be listed. Without SRCS it is a header-only library.
function(cc_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  set(target headstart_${ARG_NAME})
  if(ARG_SRCS)
    add_library(${target} STATIC ${ARG_SRCS})
    _headstart_common(${target})
    target_link_libraries(${target} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${ARG_DEPS})
  endif()
  add_library(headstart::${ARG_NAME} ALIAS ${target})
endfunction()

# cc_binary(NAME headstart SRCS main.cc DEPS ...)
function(cc_binary)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  _headstart_common(${ARG_NAME})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS})
endfunction()

# Tests ask for more memory than there is, and want to be told so rather than stopped.
set(HEADSTART_TEST_ENVIRONMENT)
if(HEADSTART_SANITIZE MATCHES "thread")
  set(HEADSTART_TEST_ENVIRONMENT ENVIRONMENT
      "TSAN_OPTIONS=allocator_may_return_null=1:ignore_noninstrumented_modules=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan_suppressions.txt")
elseif(HEADSTART_SANITIZE MATCHES "address")
  set(HEADSTART_TEST_ENVIRONMENT ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1")
endif()

# cc_test(NAME prefix_store_test SRCS ... DEPS ... [TIMEOUT s]): each TEST() is one ctest case, so that a skipped one shows.
# Tests run in the repository's root and find their data under tests/golden.
function(cc_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SRCS;DEPS" ${ARGN})
  if(NOT HEADSTART_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  cc_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${ARG_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
                       DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${ARG_TIMEOUT} ${HEADSTART_TEST_ENVIRONMENT})
endfunction()

# cc_benchmark(NAME prefix_tree_benchmark SRCS ... DEPS ...): Google Benchmark, never run by the tests.
function(cc_benchmark)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  if(HEADSTART_BENCHMARKS)
    cc_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS} benchmark::benchmark_main)
  endif()
endfunction()

# cc_fuzzer(NAME gguf_fuzzer SRCS ... DEPS ...): a libFuzzer target under the fuzz preset. In every other build the same
# source is linked to a small driver that replays the files given on its command line, and becomes a test over its seed
# corpus tests/fuzz/corpus/<NAME> where there is one.
function(cc_fuzzer)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  if(HEADSTART_FUZZERS)
    cc_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS})
    target_compile_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
  elseif(HEADSTART_TESTS)
    cc_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc DEPS ${ARG_DEPS})
    set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${ARG_NAME})
    if(EXISTS ${corpus})
      add_test(NAME fuzz_corpus.${ARG_NAME} COMMAND ${ARG_NAME} ${corpus} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
  endif()
endfunction()
