// Tests of the text form and the verifiers.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
