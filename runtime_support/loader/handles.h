// What libaotc.so's handles point to: a package's program and its library, sessions of it, and
// results whose release needs the library.
#pragma once
#include <atomic>

#include "package.h"

namespace aotc::loader {

// Closed when the caller, all sessions and all results that need its code have let go.
class Model {
 public:
  explicit Model(OpenedPackage package);
  const AotcApi* api() const { return package_.library.api(); }
  AotcModel* program() const { return package_.program.handle(); }
  const char* manifest() const;
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

 private:
  ~Model();
  std::atomic<int64_t> references_{1};
  OpenedPackage package_;
};

struct Session {
  Model* model;
  AotcSession* program;  // of model->api()
  int32_t threads;       // the context of the pool that is lent to it
};

// Lends the process's pool to the session.
void lend_pool(Session* session);

// Makes the results that are new since `before` keep the model loaded where their deleter is part
// of it.
void keep_model_for_results(Model* model, DLManagedTensor** results, int32_t count,
                            const bool* was_given);

}  // namespace aotc::loader
