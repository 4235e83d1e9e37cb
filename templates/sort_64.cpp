/* aotc_sort_64, see sort.h. */
#include "sort_run.h"

void aotc_sort_64(const AotcSort* request) { aotc::sort::run<uint64_t>(*request); }
