// The pickle machine: a stack, marks, a memo. Every opcode either pushes at most one value or moves
// references, so that work and memory are linear in the input.
#include "ir/pt2/pickle.h"

#include <bit>
#include <unordered_map>

#include "ir/pt2/quote.h"
#include "ir/pt2/zip_directory.h"

namespace aotc::pt2 {
namespace {

constexpr size_t kMaxPickle = size_t{128} << 20;  // the pickle of 500,000 tensors is smaller
constexpr int kOldestProtocol = 2, kNewestProtocol = 5;

// Opcodes as Python's pickletools names them; those not listed are refused.
// clang-format off
enum Op : unsigned char {
  kMark = '(', kStop = '.', kPop = '0', kPopMark = '1', kDup = '2', kBinFloat = 'G',
  kBinInt = 'J', kBinInt1 = 'K', kBinInt2 = 'M', kNone = 'N', kBinPersId = 'Q', kReduce = 'R',
  kBinString = 'T', kShortBinString = 'U', kBinUnicode = 'X', kBinBytes = 'B',
  kShortBinBytes = 'C', kAppend = 'a', kBuild = 'b', kGlobal = 'c', kDict = 'd', kAppends = 'e',
  kBinGet = 'h', kLongBinGet = 'j', kList = 'l', kBinPut = 'q', kLongBinPut = 'r', kSetItem = 's',
  kTuple = 't', kSetItems = 'u', kEmptyDict = '}', kEmptyList = ']', kEmptyTuple = ')',
  kProto = 0x80, kNewObj = 0x81, kTuple1 = 0x85, kTuple2 = 0x86, kTuple3 = 0x87, kNewTrue = 0x88,
  kNewFalse = 0x89, kLong1 = 0x8a, kLong4 = 0x8b, kShortBinUnicode = 0x8c, kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e, kEmptySet = 0x8f, kAddItems = 0x90, kFrozenSet = 0x91, kNewObjEx = 0x92,
  kStackGlobal = 0x93, kMemoize = 0x94, kFrame = 0x95, kByteArray8 = 0x96,
};
// clang-format on

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where, PickleCalls& calls)
      : bytes_(bytes), where_(where), calls_(calls) {
    none_ = heap().add(None{});
    true_ = heap().add(true);
    false_ = heap().add(false);
    empty_tuple_ = heap().add(PickleSequence{{}, true});
  }

  Pickle run() {
    if (bytes_.size() > kMaxPickle) fail(fmt::format("longer than {} MiB", kMaxPickle >> 20));
    if (take(1) != std::string_view("\x80", 1)) fail("it does not begin as a pickle does");
    --position_;
    for (;;) {
      const auto op = static_cast<unsigned char>(take(1)[0]);
      if (op == kStop) break;
      const bool done = scalar(op) || text(op) || sequence(op) || dictionary(op) || memo(op) ||
                        object(op) || stack(op);
      if (!done) fail(fmt::format("opcode 0x{:02x} is not one that torch.save writes", op));
    }
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    user_error("{}: malformed pickle at byte {}: {}; export the program again", where_, position_,
               what);
  }

  PickleHeap& heap() { return pickle_.heap; }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - position_) fail("it ends too early");
    const std::string_view taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }
  uint64_t take_number(int size) { return read_number(take(static_cast<uint64_t>(size)), 0, size); }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) fail("it ends too early");
    const std::string_view line = take(end - position_);
    take(1);
    return line;
  }

  // The stack. Nothing below the last mark may be popped.
  void push(PickleRef ref) { stack_.push_back(ref); }
  void push_new(PickleValue value) { push(heap().add(std::move(value))); }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleRef top() const {
    if (stack_.size() <= floor()) fail("its stack is empty");
    return stack_.back();
  }
  PickleRef pop() {
    const PickleRef ref = top();
    stack_.pop_back();
    return ref;
  }
  std::vector<PickleRef> pop_many(size_t count) {
    if (stack_.size() - floor() < count) fail("its stack is empty");
    const auto begin = stack_.end() - static_cast<ptrdiff_t>(count);
    std::vector<PickleRef> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }
  std::vector<PickleRef> pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    std::vector<PickleRef> items = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  bool scalar(unsigned char op) {
    // clang-format off
    switch (op) {
      case kNone: push(none_); return true;
      case kNewTrue: push(true_); return true;
      case kNewFalse: push(false_); return true;
      case kBinInt1: push_new(static_cast<int64_t>(take_number(1))); return true;
      case kBinInt2: push_new(static_cast<int64_t>(take_number(2))); return true;
      case kBinInt:
        push_new(int64_t{static_cast<int32_t>(take_number(4))});
        return true;
      case kLong1: push_long(take_number(1)); return true;
      case kLong4: push_long(take_number(4)); return true;
      case kBinFloat: push_float(); return true;
      default: return false;
    }
    // clang-format on
  }

  // A two's complement number, little-endian, of any length.
  void push_long(uint64_t size) {
    const std::string_view digits = take(size);
    const bool negative = size > 0 && static_cast<signed char>(digits.back()) < 0;
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i-- > 0;) {
      const auto byte = static_cast<unsigned char>(digits[i]);
      if (i >= 8 && byte != (negative ? 0xff : 0))
        unsupported("{}: an integer of more than 64 bits", where_);
      value = value << 8 | byte;
    }
    if (size > 8 && (static_cast<int64_t>(value) < 0) != negative)
      unsupported("{}: an integer of more than 64 bits", where_);
    push_new(static_cast<int64_t>(value));
  }

  void push_float() {
    uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    push_new(std::bit_cast<double>(bits));
  }

  bool text(unsigned char op) {
    // clang-format off
    switch (op) {
      case kShortBinUnicode: push_new(std::string(take(take_number(1)))); return true;
      case kBinUnicode: push_new(std::string(take(take_number(4)))); return true;
      case kBinUnicode8: push_new(std::string(take(take_number(8)))); return true;
      case kShortBinString:
      case kShortBinBytes:
        push_new(PickleBytes{std::string(take(take_number(1)))});
        return true;
      case kBinString:
      case kBinBytes:
        push_new(PickleBytes{std::string(take(take_number(4)))});
        return true;
      case kBinBytes8:
      case kByteArray8:
        push_new(PickleBytes{std::string(take(take_number(8)))});
        return true;
      default: return false;
    }
    // clang-format on
  }

  bool sequence(unsigned char op) {
    // clang-format off
    switch (op) {
      case kEmptyTuple: push(empty_tuple_); return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_new(PickleSequence{pop_many(op - kTuple1 + 1U), true});
        return true;
      case kTuple:
        push_new(PickleSequence{pop_to_mark(), true});
        return true;
      case kEmptyList:
        push_new(PickleSequence{});
        return true;
      case kList:
        push_new(PickleSequence{pop_to_mark(), false});
        return true;
      case kAppend: extend(pop_many(1)); return true;
      case kAppends: extend(pop_to_mark()); return true;
      case kEmptySet:
        push_new(PickleOther{"a set"});
        return true;
      case kAddItems: pop_to_mark(); return true;
      case kFrozenSet:
        pop_to_mark();
        push_new(PickleOther{"a set"});
        return true;
      default: return false;
    }
    // clang-format on
  }

  void extend(const std::vector<PickleRef>& items) {
    auto* list = std::get_if<PickleSequence>(&heap().at(top()));
    if (list == nullptr || list->is_tuple) fail("it appends to what is no list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  bool dictionary(unsigned char op) {
    // clang-format off
    switch (op) {
      case kEmptyDict:
        push_new(PickleDict{});
        return true;
      case kSetItem: set_items(pop_many(2)); return true;
      case kSetItems: set_items(pop_to_mark()); return true;
      case kDict: {
        const std::vector<PickleRef> items = pop_to_mark();
        push_new(PickleDict{});
        set_items(items);
        return true;
      }
      default: return false;
    }
    // clang-format on
  }

  void set_items(const std::vector<PickleRef>& items) {
    auto* dict = std::get_if<PickleDict>(&heap().at(top()));
    if (dict == nullptr) fail("it sets an item of what is no dict");
    if (items.size() % 2 != 0) fail("a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) dict->entries.emplace_back(items[i], items[i + 1]);
  }

  bool memo(unsigned char op) {
    // clang-format off
    switch (op) {
      case kBinPut: memo_[take_number(1)] = top(); return true;
      case kLongBinPut: memo_[take_number(4)] = top(); return true;
      case kMemoize: memo_[memo_.size()] = top(); return true;
      case kBinGet: push_memo(take_number(1)); return true;
      case kLongBinGet: push_memo(take_number(4)); return true;
      default: return false;
    }
    // clang-format on
  }

  void push_memo(uint64_t index) {
    const auto it = memo_.find(index);
    if (it == memo_.end()) fail("it refers to a value that it has not stored");
    push(it->second);
  }

  bool object(unsigned char op) {
    // clang-format off
    switch (op) {
      case kGlobal: push_global(); return true;
      case kStackGlobal: push_stack_global(); return true;
      case kReduce: call(); return true;
      case kNewObj: refuse_object(pop_many(2)[0]); return true;
      case kNewObjEx: refuse_object(pop_many(3)[0]); return true;
      case kBuild: set_state(); return true;
      case kBinPersId: push_new(calls_.persistent(pop(), heap())); return true;
      default: return false;
    }
    // clang-format on
  }

  void push_global() {
    std::string name(take_line());
    push_new(PickleGlobal{name + "." + std::string(take_line())});
  }

  void push_stack_global() {
    const std::vector<PickleRef> parts = pop_many(2);
    const auto* module = heap().get<std::string>(parts[0]);
    const auto* name = heap().get<std::string>(parts[1]);
    if (module == nullptr || name == nullptr) fail("a global without a name");
    push_new(PickleGlobal{*module + "." + *name});
  }

  void call() {
    const std::vector<PickleRef> parts = pop_many(2);
    const auto* function = heap().get<PickleGlobal>(parts[0]);
    const auto* arguments = heap().get<PickleSequence>(parts[1]);
    if (function == nullptr || arguments == nullptr) fail("it calls what is no function");
    push_new(calls_.call(function->name, arguments->items, heap()));
  }

  [[noreturn]] void refuse_object(PickleRef type) {
    unsupported("{}: holds an object of {}; aotc reads tensors and plain values", where_,
                describe(heap().at(type)));
  }

  // State on top of a dict is the attributes of an OrderedDict; they say nothing of the tensors.
  void set_state() {
    pop();
    if (heap().get<PickleDict>(top()) != nullptr) return;
    unsupported("{}: sets the state of {}; aotc reads tensors and plain values", where_,
                describe(heap().at(top())));
  }

  bool stack(unsigned char op) {
    // clang-format off
    switch (op) {
      case kMark: marks_.push_back(stack_.size()); return true;
      case kPop: pop(); return true;
      case kPopMark: pop_to_mark(); return true;
      case kDup: push(top()); return true;
      case kFrame: take_number(8); return true;
      case kProto: check_protocol(take_number(1)); return true;
      default: return false;
    }
    // clang-format on
  }

  void check_protocol(uint64_t protocol) const {
    if (protocol < kOldestProtocol || protocol > kNewestProtocol)
      fail(fmt::format("pickle protocol {}, expected {} to {}", protocol, kOldestProtocol,
                       kNewestProtocol));
  }

  std::string_view bytes_;
  const std::string& where_;
  PickleCalls& calls_;
  size_t position_ = 0;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleRef> memo_;
  PickleRef none_ = 0, true_ = 0, false_ = 0, empty_tuple_ = 0;
};

}  // namespace

PickleRef PickleHeap::add(PickleValue value) {
  values_.push_back(std::move(value));
  return static_cast<PickleRef>(values_.size() - 1);
}

std::string describe(const PickleValue& value) {
  if (const auto* global = std::get_if<PickleGlobal>(&value))
    return "global " + quote(global->name);
  if (const auto* text = std::get_if<std::string>(&value)) return "the string " + quote(*text, 40);
  if (const auto* other = std::get_if<PickleOther>(&value)) return other->what;
  if (const auto* sequence = std::get_if<PickleSequence>(&value))
    return sequence->is_tuple ? "a tuple" : "a list";
  constexpr const char* kNames[] = {
      "None",       "a bool", "an integer", "a float",  "a string",      "bytes",    "a global",
      "a sequence", "a dict", "a storage",  "a tensor", "a fake tensor", "an object"};
  static_assert(std::size(kNames) == std::variant_size_v<PickleValue>);
  return kNames[value.index()];
}

Pickle read_pickle(std::string_view bytes, const std::string& where, PickleCalls& calls) {
  return Machine(bytes, where, calls).run();
}

}  // namespace aotc::pt2
