// Loading a model's code and weights, once, and giving them back with the model.
#include "gpu_model.h"

#include <pthread.h>
#include <string.h>

#include "../error.h"
#include "../gpu.h"
#include "gpu_runtime.h"

namespace aotc::model::cuda {
namespace {

constexpr int64_t kDeviceAlignment = 256;

// Held while a model's part is made; a session of a model that has one takes no lock.
pthread_mutex_t model_mutex = PTHREAD_MUTEX_INITIALIZER;

AotcStatus place_on_device(const AotcProgram* program, GpuModel* g) {
  for (int32_t i = 0; i < program->n_storages; ++i) {
    const AotcStorage& storage = program->storages[i];
    if (storage.device != AOTC_GPU) continue;
    int64_t* bytes = storage.state ? &g->state_bytes : &g->weight_bytes;
    g->storage_offsets[i] = *bytes;
    if (!add(*bytes, storage.bytes, bytes) || !add(*bytes, kDeviceAlignment, bytes))
      return fail(AOTC_OUT_OF_MEMORY, "the weights of program '%s' do not fit in memory",
                  program->name);
    *bytes = *bytes / kDeviceAlignment * kDeviceAlignment;
  }
  return AOTC_OK;
}

AotcStatus load_module(const AotcProgram* program, GpuModel* g) {
  const Driver* driver = g->device->driver;
  const AotcDeviceImage* image = nullptr;
  if (AotcStatus status = choose_image(program, g->device, &image)) return status;
  const char* data = static_cast<const char*>(image->data);
  char* text = nullptr;
  // PTX is text that must end in a zero byte.
  if (strcmp(image->kind, "ptx") == 0 && (image->bytes == 0 || data[image->bytes - 1])) {
    text = static_cast<char*>(malloc(static_cast<size_t>(image->bytes) + 1));
    if (!text) return fail(AOTC_OUT_OF_MEMORY, "no memory for a copy of the program's PTX");
    memcpy(text, data, static_cast<size_t>(image->bytes));
    text[image->bytes] = 0;
  }
  const CUresult code = driver->cuModuleLoadData(&g->module, text ? text : data);
  free(text);
  if (code)
    return driver_error(driver, code, "cuModuleLoadData",
                        "the code of program '%s' for %s (%s) does not load on cuda:%d (%s)",
                        program->name, image->arch, image->kind, g->device->ordinal,
                        g->device->name);
  for (int32_t k = 0; k < program->gpu->n_kernels; ++k)
    if (const CUresult missing =
            driver->cuModuleGetFunction(&g->functions[k], g->module, program->gpu->kernels[k]))
      return driver_error(driver, missing, "cuModuleGetFunction", "kernel '%s' of program '%s'",
                          program->gpu->kernels[k], program->name);
  return AOTC_OK;
}

// Constants without bytes in the blob are zero.
AotcStatus upload_storages(const Model* model, const GpuModel* g, CUstream stream) {
  const Driver* driver = g->device->driver;
  for (int32_t i = 0; i < model->program->n_storages; ++i) {
    const AotcStorage& storage = model->program->storages[i];
    if (storage.device != AOTC_GPU || storage.state || storage.bytes == 0) continue;
    const CUdeviceptr to = g->weights + static_cast<CUdeviceptr>(g->storage_offsets[i]);
    const size_t bytes = static_cast<size_t>(storage.bytes);
    const char* function = storage.offset < 0 ? "cuMemsetD8Async" : "cuMemcpyHtoDAsync";
    const CUresult code =
        storage.offset < 0
            ? driver->cuMemsetD8Async(to, 0, bytes, stream)
            : driver->cuMemcpyHtoDAsync_v2(to, model->weights.data + storage.offset, bytes, stream);
    if (code)
      return driver_error(driver, code, function, "uploading the weights of program '%s'",
                          model->program->name);
  }
  if (const CUresult code = driver->cuStreamSynchronize(stream))
    return driver_error(driver, code, "cuStreamSynchronize",
                        "uploading the weights of program '%s'", model->program->name);
  return AOTC_OK;
}

AotcStatus upload_weights(const Model* model, GpuModel* g) {
  const Driver* driver = g->device->driver;
  CUstream stream = nullptr;
  if (g->weight_bytes == 0) return AOTC_OK;
  if (const CUresult code =
          driver->cuMemAlloc_v2(&g->weights, static_cast<size_t>(g->weight_bytes)))
    return driver_error(driver, code, "cuMemAlloc", "no device memory for %lld bytes of weights",
                        static_cast<long long>(g->weight_bytes));
  if (const CUresult code = driver->cuStreamCreate(&stream, kNonBlocking))
    return driver_error(driver, code, "cuStreamCreate", "uploading the weights");
  const AotcStatus status = upload_storages(model, g, stream);
  driver->cuStreamDestroy_v2(stream);
  return status;
}

AotcStatus load(const Model* model, GpuModel* g) {
  const Current current(g->device);
  if (current.status) return current.status;
  if (AotcStatus status = load_module(model->program, g)) return status;
  return upload_weights(model, g);
}

void destroy(GpuModel* g) {
  if (!g->device) {
    free(g);
    return;
  }
  {
    const Current current(g->device);
    if (g->weights) g->device->driver->cuMemFree_v2(g->weights);
    if (g->module) g->device->driver->cuModuleUnload(g->module);
  }
  release_device(g->device);
  free(g);
}

AotcStatus make(const Model* model, GpuModel** out) {
  const AotcProgram* program = model->program;
  Carver carver = {nullptr, round_up(sizeof(GpuModel), 16)};
  GpuModel measure = {};
  carver.take(&measure.functions, program->gpu->n_kernels);
  carver.take(&measure.storage_offsets, program->n_storages);
  GpuModel* g = static_cast<GpuModel*>(calloc(1, static_cast<size_t>(carver.used)));
  if (!g) return fail(AOTC_OUT_OF_MEMORY, "no memory for the GPU part of a model");
  carver = {reinterpret_cast<char*>(g), round_up(sizeof(GpuModel), 16)};
  carver.take(&g->functions, program->gpu->n_kernels);
  carver.take(&g->storage_offsets, program->n_storages);
  g->kernel_names = program->gpu->kernels;
  g->strided_copy = program->gpu->strided_copy;
  AotcStatus status = place_on_device(program, g);
  if (!status) status = open_device(program->gpu->device_index, &g->device);
  if (!status) status = load(model, g);
  if (status)
    destroy(g);
  else
    *out = g;
  return status;
}

}  // namespace

AotcStatus get_model(Model* model, GpuModel** out) {
  *out = load_acquire(&model->gpu);
  if (*out) return AOTC_OK;
  pthread_mutex_lock(&model_mutex);
  AotcStatus status = AOTC_OK;
  if (!model->gpu) {
    status = make(model, out);
    if (!status) store_release(&model->gpu, *out);
  }
  *out = model->gpu;
  pthread_mutex_unlock(&model_mutex);
  return status;
}

void release_model_part(Model* model) { destroy(model->gpu); }

}  // namespace aotc::model::cuda
