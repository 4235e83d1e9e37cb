// The one exported function of a model's library. Compiled once per model: for a model that is
// embedded into an executable, AOTC_GET_API_NAME is aotc_<name>_get_api and AOTC_PROGRAM_NAME is
// aotc_<name>_program.
#include "api.h"

#ifndef AOTC_GET_API_NAME
#define AOTC_GET_API_NAME aotc_get_api
#endif

namespace {

AotcStatus open(const char* path, const char* options, AotcModel** out) {
  return aotc::model::open_model(&AOTC_PROGRAM_NAME, path, options, out);
}
AotcStatus open_memory(const void* data, uint64_t size, const char* options, AotcModel** out) {
  return aotc::model::open_model_memory(&AOTC_PROGRAM_NAME, data, size, options, out);
}

const AotcApi kApi = AOTC_MODEL_API(open, open_memory);

}  // namespace

extern "C" AOTC_EXPORT const AotcApi* AOTC_GET_API_NAME(uint32_t abi_version) {
  return abi_version == AOTC_ABI_VERSION ? &kApi : nullptr;
}
