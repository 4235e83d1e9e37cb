// What an image exports: the declarations of cuda_sim.h that the driver shares with it.
#pragma once
#include <cstdint>
#include <string>

namespace aotc::simt {

struct Index3 {
  unsigned int x, y, z;
};

struct Calls {
  Index3 thread, block, block_dim, grid_dim;
  long shift;
  unsigned long device_begin, device_bytes;
  void* nowhere;
  void (*block_barrier)(int line);
  void (*warp_barrier)(unsigned int mask, int line);
  unsigned int (*exchange)(unsigned int mask, unsigned int value, int from, int line);
  unsigned int (*ballot)(unsigned int mask, int predicate, int line);
  int (*block_count)(int predicate, int line);
  void (*trap)(const char* what, int line);
};

struct Kernel {
  const char* name;
  void (*call)(void** arguments);
  const unsigned int* sizes;
  int arguments;
};

struct Image {
  unsigned int version;
  Calls** calls;
  const Kernel *kernels_begin, *kernels_end;
  char *shared_begin, *shared_end;
};

struct Launch {
  const Image* image;
  const Kernel* kernel;
  Index3 grid, block;
  void** arguments;
};

// Runs a launch to its end. False, with a complaint, when it goes wrong: the context is then lost.
bool run_launch(const Launch& launch);
uint64_t launches();

}  // namespace aotc::simt
