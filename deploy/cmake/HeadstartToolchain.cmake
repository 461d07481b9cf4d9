# Language level, warnings, sanitizers, compiler cache and linker for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# mold links these binaries several times faster than ld; lld and ld work as well. The sanitizers' and the
# fuzzer's runtimes are linked by the compiler's own choice.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT HEADSTART_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (CMAKE_BUILD_TYPE STREQUAL "Release" OR HEADSTART_SANITIZE))
  # At -O3, and under sanitizers, GCC 12 warns of its own inlined std::string and std::variant (its bugs 105329 and
  # 105562); every other build keeps these on.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety -Wthread-safety-beta)
endif()

# Floating-point results are part of what a block's fingerprint promises: the compiler may not fuse a multiply and an
# add by itself, since it would do so in one loop and not in its twin.
add_compile_options(-ffp-contract=off)

if(HEADSTART_SANITIZE)
  add_compile_options(-fsanitize=${HEADSTART_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADSTART_SANITIZE})
endif()
