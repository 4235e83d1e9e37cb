// The test program of the scalar primitives.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
