/* aotc_sort_16, see sort.h. */
#include "sort_run.h"

void aotc_sort_16(const AotcSort* request) { aotc::sort::run<uint16_t>(*request); }
