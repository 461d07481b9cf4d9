#include "engine/text/template/context.h"

#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {

namespace {

constexpr int64_t kNamesPerStep = 16;  // comparing names is quick
constexpr int kMaxScopeDepth =
    1000;  // blocks around a macro around a macro; deeper than max_depth, as macros may be returned

}  // namespace

Context::Context(TemplateLimits limits, absl::Time now)
    : limits_(limits), now_(now), scope_(&scopes_.emplace_back()), outputs_(1) {}

void Context::Charge(int64_t steps) {
  if (steps > limits_.max_steps - steps_) {
    FailLimit(fmt::format("the template takes more than the limit of {} steps (max_steps)", limits_.max_steps));
  }
  steps_ += steps;
}

void Context::ChargeBytes(size_t bytes) {
  if (bytes > max_bytes()) {
    FailLimit(fmt::format("the template makes a string beyond the limit of {} bytes (max_output_bytes)", max_bytes()));
  }
  Charge(static_cast<int64_t>(bytes / kBytesPerStep));
}

void Context::ChargeItems(size_t items) { Charge(static_cast<int64_t>(items / kItemsPerStep)); }

const Value* Context::Find(std::string_view name) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer_) {
    Charge(static_cast<int64_t>(scope->names_.size()) / kNamesPerStep);
    for (const auto& [key, value] : scope->names_) {
      if (key == name) return &value;
    }
  }
  return nullptr;
}

void Context::Set(std::string_view name, Value value) {
  Charge(static_cast<int64_t>(scope_->names_.size()) / kNamesPerStep);
  for (auto& [key, current] : scope_->names_) {
    if (key == name) {
      current = std::move(value);
      return;
    }
  }
  scope_->names_.emplace_back(name, std::move(value));
}

void Context::CheckOutput(size_t more) const {
  if (more > max_bytes() - outputs_.back().size()) {
    FailLimit(fmt::format("the template writes more than the limit of {} bytes (max_output_bytes)", max_bytes()));
  }
}

void Context::Write(const Text& text) {
  CheckOutput(text.size());
  outputs_.back().Append(text);
}

void Context::Write(std::string_view bytes) {
  CheckOutput(bytes.size());
  outputs_.back().Append(bytes);
}

RenderedPrompt Context::TakePrompt() {
  const Text text = outputs_.back().Take();
  return {std::string(text.bytes()), text.caller_ranges()};
}

Scope& Context::CaptureScope() {
  for (Scope* scope = scope_; scope != nullptr && !scope->captured_; scope = scope->outer_) scope->captured_ = true;
  return *scope_;
}

Scope& Context::OpenScope(Scope& outer) {
  if (outer.depth_ >= kMaxScopeDepth) FailLimit(fmt::format("blocks and macros nest deeper than {}", kMaxScopeDepth));
  Scope* scope;
  if (free_scopes_.empty()) {
    scope = &scopes_.emplace_back();
  } else {
    scope = free_scopes_.back();
    free_scopes_.pop_back();
  }
  scope->outer_ = &outer;
  scope->depth_ = outer.depth_ + 1;
  return *scope;
}

void Context::CloseScope(Scope& scope) {
  if (scope.captured_) return;
  scope.names_.clear();
  free_scopes_.push_back(&scope);
}

ScopeGuard::ScopeGuard(Context& context, Scope& outer) : context_(context), before_(context.scope_) {
  context_.scope_ = &context_.OpenScope(outer);
}

ScopeGuard::~ScopeGuard() { context_.CloseScope(*std::exchange(context_.scope_, before_)); }

CaptureGuard::CaptureGuard(Context& context) : context_(context) { context_.outputs_.emplace_back(); }

CaptureGuard::~CaptureGuard() { context_.outputs_.pop_back(); }

Text CaptureGuard::Take() {
  context_.ChargeBytes(context_.outputs_.back().size());
  return context_.outputs_.back().Take();
}

DepthGuard::DepthGuard(Context& context) : context_(context) {
  if (context.depth_ >= context.limits_.max_depth) {
    FailLimit(fmt::format("the template nests deeper than the limit of {} (max_depth)", context.limits_.max_depth));
  }
  ++context_.depth_;
}

}  // namespace headstart::jinja
