// Clang in process: one source text in, messages and an object out. Nothing is read from disk.
#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "codegen/clang/clang_api.h"
#include "codegen/clang/crash_guard.h"
#include "codegen/clang/store_checker.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

namespace aotc::clang_plugin {
namespace {

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

// Collects errors; a note is appended to the error before it.
class MessageCollector : public clang::DiagnosticConsumer {
 public:
  explicit MessageCollector(std::vector<SourceProblem>& out) : out_(out) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
    llvm::SmallString<128> text;
    diagnostic.FormatDiagnostic(text);
    SourceProblem problem = locate(diagnostic);
    problem.message = text.str().str();
    if (level >= clang::DiagnosticsEngine::Error) {
      out_.push_back(problem);
    } else if (level == clang::DiagnosticsEngine::Note && !out_.empty()) {
      out_.back().message +=
          "\n    note: line " + std::to_string(problem.line) + ": " + problem.message;
    }
  }

 private:
  static SourceProblem locate(const clang::Diagnostic& diagnostic) {
    SourceProblem problem;
    if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid()) return problem;
    const clang::SourceManager& sources = diagnostic.getSourceManager();
    clang::SourceLocation at = sources.getExpansionLoc(diagnostic.getLocation());
    problem.line = static_cast<int>(sources.getSpellingLineNumber(at));
    problem.column = static_cast<int>(sources.getSpellingColumnNumber(at));
    return problem;
  }

  std::vector<SourceProblem>& out_;
};

// Feeds one parse to the store checker and to code generation, as far as they are wanted.
class Action : public clang::EmitObjAction {
 public:
  Action(llvm::LLVMContext* context, const StoreRules* rules, bool emit, CompileResult& result)
      : EmitObjAction(context), rules_(rules), emit_(emit), result_(result) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    if (rules_) consumers.push_back(make_store_checker(*rules_, result_.findings));
    if (emit_) consumers.push_back(EmitObjAction::CreateASTConsumer(instance, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  // Without a code generator there is no module for the base class to collect.
  void EndSourceFileAction() override {
    if (emit_) EmitObjAction::EndSourceFileAction();
  }

 private:
  const StoreRules* rules_;
  bool emit_;
  CompileResult& result_;
};

bool run_compiler(const SourceFile& source, const std::vector<std::string>& arguments,
                  const StoreRules* rules, bool emit, CompileResult& result) {
  std::string path = "/" + source.name;
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(source.text));
  auto collector = std::make_unique<MessageCollector>(result.errors);
  auto messages = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      new clang::DiagnosticIDs, new clang::DiagnosticOptions, collector.get(), false);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(path.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, words, *messages)) return false;
  llvm::SmallVector<char, 0> object;
  llvm::LLVMContext context;
  clang::CompilerInstance instance;
  instance.setInvocation(std::move(invocation));
  instance.setDiagnostics(messages.get());
  instance.setFileManager(new clang::FileManager(instance.getFileSystemOpts(), files));
  instance.setVerboseOutputStream(
      llvm::nulls());  // else "1 error generated." goes to standard error
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  Action action(&context, rules, emit, result);
  bool ok = instance.ExecuteAction(action);
  result.object.assign(object.data(), object.size());
  return ok;
}

std::mutex guard_mutex;
int active_guards = 0;

// The handlers are installed by the first active guard and removed by the last.
void count_guard(int change) {
  std::lock_guard lock(guard_mutex);
  if (active_guards == 0) llvm::CrashRecoveryContext::Enable();
  active_guards += change;
  if (active_guards == 0) llvm::CrashRecoveryContext::Disable();
}

}  // namespace

bool run_guarded(llvm::function_ref<void()> body) {
  count_guard(+1);
  llvm::CrashRecoveryContext guard;
  bool finished = guard.RunSafely(body);
  count_guard(-1);
  return finished;
}

std::string clang_version() { return CLANG_VERSION_STRING; }

CompileResult compile(const SourceFile& source, const std::vector<std::string>& arguments,
                      const StoreRules* rules, bool emit) {
  initialize_targets();
  CompileResult result;
  bool finished =
      run_guarded([&] { result.ok = run_compiler(source, arguments, rules, emit, result); });
  if (!finished) result.errors.push_back({.message = "the compiler crashed on this source"});
  result.ok = result.ok && finished && result.errors.empty();
  return result;
}

}  // namespace aotc::clang_plugin
