# Compiler settings, dependencies and the helper that every folder's CMakeLists uses.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Several files compiled as one: a first build takes a third of the time, but a change compiles its
# neighbours too. Who edits, and whoever compiles through ccache, is better off without.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(batch OFF)
else()
  set(batch ON)
endif()
option(TIDEMARK_BATCH "Compile several files as one: for a first build" ${batch})
if(TIDEMARK_BATCH)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()
# tidemark_alone(FILES...): those that say a name of their own as a neighbour does.
function(tidemark_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PQXX REQUIRED IMPORTED_TARGET libpqxx)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)

set(TIDEMARK_SANITIZE "" CACHE STRING "Sanitizers of our own code: address,undefined or thread")

# The interface that carries warnings and sanitizers: our code has it, generated code does not.
add_library(tidemark_options INTERFACE)
target_include_directories(tidemark_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(tidemark_options INTERFACE
  -Wall -Wextra -Werror -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees an overlap in "literal" + std::string once it optimises (its bug 105651).
  target_compile_options(tidemark_options INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
  if(TIDEMARK_BATCH)  # to it, a file among others is a header
    target_compile_options(tidemark_options INTERFACE -Wno-subobject-linkage)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(tidemark_options INTERFACE -Wthread-safety)
endif()
if(TIDEMARK_FUZZ)  # see tests/fuzz
  target_compile_options(tidemark_options INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
if(TIDEMARK_SANITIZE)
  target_compile_options(tidemark_options INTERFACE
    -fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all)
  # Everything that links our code needs the runtime, generated code included.
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
endif()
# What every program has besides its own code: in the ThreadSanitizer build, Abseil's mutexes as it
# understands them.
add_library(tidemark_runtime INTERFACE)
if(TIDEMARK_SANITIZE MATCHES thread)
  add_library(tidemark_tsan OBJECT ${CMAKE_SOURCE_DIR}/cmake/tsan_runtime.cc)
  target_link_libraries(tidemark_runtime INTERFACE
    tidemark_tsan $<TARGET_OBJECTS:tidemark_tsan> absl::synchronization absl::time ${CMAKE_DL_LIBS})
endif()

# The allocator of the programs that run for long: half of the hot path's time would be glibc's. A
# sanitizer brings its own.
add_library(tidemark_malloc INTERFACE)
if(NOT TIDEMARK_SANITIZE AND NOT TIDEMARK_FUZZ)
  # jemalloc is as fast, but hangs under libfaketime, which tests use.
  pkg_check_modules(TCMALLOC REQUIRED IMPORTED_TARGET libtcmalloc_minimal)
  target_link_libraries(tidemark_malloc INTERFACE PkgConfig::TCMALLOC)
endif()

# tidemark_library(NAME SOURCES ... DEPS ...): one target a folder; DEPS are public, so that the
# linker enforces which folder may use which.
function(tidemark_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE tidemark_options ${ARG_PRIVATE_DEPS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

# tidemark_program(NAME SOURCES ... DEPS ...)
function(tidemark_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tidemark_options tidemark_runtime ${ARG_DEPS})
endfunction()

include(GoogleTest)
# Build the test programs labelled "sanitized" or "sanitized-pure", and the former alone.
add_custom_target(sanitized_tests)
add_custom_target(threaded_tests)
# tidemark_test(NAME SOURCES ... DEPS ... [LABELS ...]): one GoogleTest program, each case a ctest.
# Label "sanitized" marks what CI runs under the sanitizer presets too; "sanitized-pure" is for code
# without threads, which ThreadSanitizer need not see.
function(tidemark_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS;PROPERTIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE
    tidemark_options tidemark_runtime ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(TIDEMARK_SANITIZE)  # several times slower
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  set(properties TIMEOUT ${ARG_TIMEOUT} ${ARG_PROPERTIES})
  if(TIDEMARK_SANITIZE MATCHES thread)
    # Not ENVIRONMENT, which the test may have set.
    list(APPEND properties ENVIRONMENT_MODIFICATION
      "TSAN_OPTIONS=set:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp")
  endif()
  if(ARG_LABELS)  # an empty value would be dropped and shift the rest
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  # NO_PRETTY_VALUES: a parameter without a printer would be shown as bytes that differ each time.
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_PREFIX ${name}. NO_PRETTY_VALUES
    PROPERTIES ${properties})
  if("sanitized" IN_LIST ARG_LABELS)
    add_dependencies(threaded_tests ${name})
  endif()
  if("sanitized" IN_LIST ARG_LABELS OR "sanitized-pure" IN_LIST ARG_LABELS)
    add_dependencies(sanitized_tests ${name})
  endif()
endfunction()
