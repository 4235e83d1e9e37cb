/* aotc_sort_8, see sort.h. */
#include "sort_run.h"

void aotc_sort_8(const AotcSort* request) { aotc::sort::run<uint8_t>(*request); }
