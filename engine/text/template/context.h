// Context: one rendering. Holds the variables, the text written so far, and the limits with what is used of them.
//
// Work is counted in steps: one for each node evaluated, one for each kBytesPerStep bytes of a string made and for each
// kItemsPerStep items of a list made. A bound on steps so bounds time and memory alike. Thread-safety: none; it lives
// for one Render.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_CONTEXT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_CONTEXT_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "engine/text/template/chat_template.h"
#include "engine/text/template/text.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

// Names of one block, inside those of another. A macro keeps the scope it was defined in.
class Scope {
 private:
  friend class Context;
  Scope* outer_ = nullptr;
  int depth_ = 0;
  std::vector<std::pair<std::string, Value>> names_;
  bool captured_ = false;
};

class Context {
 public:
  // A string of this many bytes takes about as long to copy as a node to evaluate.
  static constexpr size_t kBytesPerStep = 64;
  static constexpr size_t kItemsPerStep = 1;

  Context(TemplateLimits limits, absl::Time now);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Each fails when a limit is reached.
  void Charge(int64_t steps);
  void ChargeBytes(size_t bytes);  // also refuses a string beyond the output limit
  void ChargeItems(size_t items);
  size_t max_bytes() const { return static_cast<size_t>(limits_.max_output_bytes); }
  absl::Time now() const { return now_; }

  // The line of the statement or expression that runs, for messages.
  int line() const { return line_; }
  void set_line(int line) { line_ = line; }

  // The variable of the current scope or one around it; null where there is none.
  const Value* Find(std::string_view name);

  // Sets a variable of the current scope.
  void Set(std::string_view name, Value value);

  Scope& scope() { return *scope_; }

  // Keeps the current scope alive to the end of the rendering, for a macro that refers to it.
  Scope& CaptureScope();

  void Write(const Text& text);
  void Write(std::string_view bytes);

  // All that was written.
  RenderedPrompt TakePrompt();

  // Objects that may refer to each other in circles live until the end of the rendering.
  template <typename T, typename... Args>
  Value Own(Args&&... args) {
    auto object = std::make_shared<T>(std::forward<Args>(args)...);
    owned_.push_back(object);
    return Value(std::shared_ptr<Object>(std::shared_ptr<void>(), object.get()));
  }

 private:
  friend class ScopeGuard;
  friend class CaptureGuard;
  friend class DepthGuard;

  void CheckOutput(size_t more) const;
  Scope& OpenScope(Scope& outer);
  void CloseScope(Scope& scope);

  const TemplateLimits limits_;
  const absl::Time now_;
  int64_t steps_ = 0;
  int depth_ = 0;
  int line_ = 0;
  std::deque<Scope> scopes_;
  std::vector<Scope*> free_scopes_;
  Scope* scope_;
  std::vector<TextBuilder> outputs_;
  std::vector<std::shared_ptr<void>> owned_;
};

// A new scope inside `outer` (the current one by default) until the end of the block.
class ScopeGuard {
 public:
  explicit ScopeGuard(Context& context) : ScopeGuard(context, context.scope()) {}
  ScopeGuard(Context& context, Scope& outer);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Context& context_;
  Scope* before_;
};

// Collects what is written until Take, in place of the output.
class CaptureGuard {
 public:
  explicit CaptureGuard(Context& context);
  ~CaptureGuard();
  CaptureGuard(const CaptureGuard&) = delete;
  CaptureGuard& operator=(const CaptureGuard&) = delete;

  Text Take();

 private:
  Context& context_;
};

// One level deeper until the end of the block; fails at the limit.
class DepthGuard {
 public:
  explicit DepthGuard(Context& context);
  ~DepthGuard() { --context_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Context& context_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_CONTEXT_H_
