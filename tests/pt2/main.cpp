// The test program of the .pt2 reader, element types and .npy files.
#define CATCH_CONFIG_MAIN
#include "catch2/catch.hpp"
