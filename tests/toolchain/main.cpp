// Catch2's main function for the toolchain tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
