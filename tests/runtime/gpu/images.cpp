// The kernels compiled for the simulator, and for real devices where the build has a compiler for
// them.
#include "device_tools.h"

#define EMBED(symbol, file)                                                            \
  asm(".pushsection .rodata\n.balign 64\n" #symbol ":\n.incbin \"" file "\"\n" #symbol \
      "_end:\n.byte 0\n.popsection\n");                                                \
  extern "C" const char symbol[], symbol##_end[];

EMBED(aotc_test_sim_image, AOTC_TEST_SIM_IMAGE)
#ifdef AOTC_TEST_PTX
EMBED(aotc_test_ptx_image, AOTC_TEST_PTX)
#endif

// Only the size of PTX is looked at.
extern "C" const AotcDeviceImage aotc_test_images[] = {
    {"sim", "sim", aotc_test_sim_image, 1},
#ifdef AOTC_TEST_PTX
    {"compute_80", "ptx", aotc_test_ptx_image, 1},
#endif
};
