// Lifetimes across libraries: no code may be unmapped while something can still call it.
#include "handles.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "../model/pool.h"

namespace aotc::loader {
namespace {

// A result whose deleter lives in the package's library, and what keeps that loaded.
struct Kept {
  DLManagedTensor tensor;
  DLManagedTensor* inner;
  Model* model;
};

void release_kept(DLManagedTensor* self) {
  Kept* kept = static_cast<Kept*>(self->manager_ctx);
  kept->inner->deleter(kept->inner);
  kept->model->release();
  delete kept;
}

bool is_free(void (*deleter)(DLManagedTensor*)) {
  return reinterpret_cast<void*>(deleter) == reinterpret_cast<void*>(&std::free);
}

}  // namespace

Model::Model(OpenedPackage package) : package_(std::move(package)) { model::pool_retain(); }

Model::~Model() { model::pool_release(); }

const char* Model::manifest() const {
  return package_.manifest.empty() ? api()->model_manifest(program()) : package_.manifest.c_str();
}

void Model::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void lend_pool(Session* session) {
  session->model->api()->session_set_parallel_for(session->program, model::pool_parallel_for,
                                                  &session->threads, session->threads);
}

void keep_model_for_results(Model* model, DLManagedTensor** results, int32_t count,
                            const bool* was_given) {
  for (int32_t i = 0; i < count; ++i) {
    DLManagedTensor* inner = results[i];
    if (was_given[i] || !inner || is_free(inner->deleter)) continue;
    model->retain();
    Kept* kept = new (std::nothrow) Kept{*inner, inner, model};
    if (!kept) continue;  // the result is good; the model stays loaded for ever
    kept->tensor.manager_ctx = kept;
    kept->tensor.deleter = release_kept;
    results[i] = &kept->tensor;
  }
}

}  // namespace aotc::loader
