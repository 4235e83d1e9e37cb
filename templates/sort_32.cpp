/* aotc_sort_32, see sort.h. */
#include "sort_run.h"

void aotc_sort_32(const AotcSort* request) { aotc::sort::run<uint32_t>(*request); }
