// A reader of Python pickles (protocols 2 to 5) that can build plain values only: None, numbers,
// strings, bytes, tuples, lists, dictionaries. Whatever else a pickle asks for goes, by name, to a
// PickleCalls, which decides; no code of the archive ever runs. Memory is bounded by the input's
// size.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/error.h"
#include "ir/pt2/exported_program.h"

namespace aotc::pt2 {

// Well-formed, but something that aotc does not represent (an object of a class, a sparse tensor).
class UnsupportedError : public UserError {
 public:
  using UserError::UserError;
};

template <typename... T>
[[noreturn]] void unsupported(fmt::format_string<T...> format, T&&... args) {
  throw UnsupportedError(fmt::format(format, std::forward<T>(args)...));
}

using PickleRef = uint32_t;  // index into PickleHeap

struct PickleBytes {
  std::string bytes;
};
struct PickleGlobal {
  std::string name;
};  // "module.name"
struct PickleSequence {
  std::vector<PickleRef> items;
  bool is_tuple = false;
};
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> entries;
};  // in order of insertion
// Made by PickleCalls:
struct PickleStorage {
  int storage = -1;            // index into ExportedProgram::storages
  std::optional<DType> dtype;  // nullopt: untyped bytes
};
struct FakeTensor {};  // a tensor without data
struct PickleOther {
  std::string what;
};  // a value of no use here, e.g. a torch.device

using PickleValue =
    std::variant<None, bool, int64_t, double, std::string, PickleBytes, PickleGlobal,
                 PickleSequence, PickleDict, PickleStorage, StoredTensor, FakeTensor, PickleOther>;

// All values of a pickle; they may refer to each other in cycles. References stay valid.
class PickleHeap {
 public:
  PickleRef add(PickleValue value);
  PickleValue& at(PickleRef ref) { return values_[ref]; }
  const PickleValue& at(PickleRef ref) const { return values_[ref]; }
  template <typename T>
  const T* get(PickleRef ref) const {
    return std::get_if<T>(&values_[ref]);
  }

 private:
  std::deque<PickleValue> values_;
};

// What a value is, for messages: "a dict", "global 'os.system'".
std::string describe(const PickleValue& value);

// What a pickle may call.
class PickleCalls {
 public:
  virtual ~PickleCalls() = default;
  // The result of `function`(arguments...); throws for every function that it does not know.
  virtual PickleValue call(const std::string& function, std::span<const PickleRef> arguments,
                           const PickleHeap& heap) = 0;
  // The object behind a persistent id.
  virtual PickleValue persistent(PickleRef id, const PickleHeap& heap) = 0;
};

struct Pickle {
  PickleHeap heap;
  PickleRef root = 0;
};

// Reads one pickle. `where` names it in messages. Throws UserError (malformed) or UnsupportedError.
Pickle read_pickle(std::string_view bytes, const std::string& where, PickleCalls& calls);

}  // namespace aotc::pt2
