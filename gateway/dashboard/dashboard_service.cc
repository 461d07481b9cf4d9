#include "gateway/dashboard/dashboard_service.h"

#include <utility>
#include <vector>

#include "gateway/dashboard/dashboard_json.h"
#include "gateway/dashboard/page_files.h"
#include "gateway/http/http_identity.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/services/explain_misses.h"
#include "gateway/services/status_report.h"
#include "gateway/services/submit_errors.h"

namespace headstart {
namespace {

constexpr absl::Duration kDataLifetime = absl::Seconds(1);
constexpr absl::Duration kInsightLifetime = absl::Seconds(10);
constexpr int kInsightsOfATenant = 10;
constexpr size_t kKeptAnswers = 64;  // of as many tenants, who look at the same time

// Nothing from elsewhere runs, loads or frames the page. The server itself adds nosniff and the like.
HttpHeaders PageHeaders() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
           "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"Cache-Control", "no-cache"}};
}

HttpHandler ServeFile(std::string_view body, std::string_view type) {
  return [body, type](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Send({.content_type = std::string(type), .body = std::string(body), .headers = PageHeaders()});
  };
}

HttpResponse JsonAnswer(std::string body) {
  return {.body = std::move(body), .headers = {{"Cache-Control", "no-store"}}};
}

TenantInsight InsightOf(const ServiceContext& context, const std::string& tenant) {
  TenantInsight insight{.tenant = tenant, .misses = ExplainMisses(context, tenant, kInsightsOfATenant), .hottest = {}};
  for (const HotPrefix& prefix : HottestPrefixes(context.history.Of(tenant), kInsightsOfATenant)) {
    insight.hottest.push_back({.requests = prefix.requests,
                               .tokens = prefix.tokens,
                               .text = context.engine.tokenizer().Decode(prefix.beginning, /*with_special=*/true)});
  }
  return insight;
}

std::string KeyOf(const std::string& what, const Caller& caller) {
  return what + (caller.role == Role::kOperator ? "/operator" : "/tenant/" + caller.tenant);
}

}  // namespace

DashboardService::DashboardService(const ServiceContext& context, Activity& activity)
    : context_(context), activity_(activity) {}

void DashboardService::AddTo(HttpRouter& router) {
  router.Add("GET", "/", ServeFile(DashboardHtml(), "text/html; charset=utf-8"));
  router.Add("GET", "/dashboard/dashboard.js", ServeFile(DashboardScript(), "text/javascript; charset=utf-8"));
  router.Add("GET", "/dashboard/dashboard.css", ServeFile(DashboardStyles(), "text/css; charset=utf-8"));
  router.Add("GET", "/dashboard/chart.js", ServeFile(ChartScript(), "text/javascript; charset=utf-8"));
  router.Add("GET", "/dashboard/data", [this](const std::shared_ptr<HttpExchange>& exchange) {
    Answer(exchange, "data", kDataLifetime, &DashboardService::Data);
  });
  router.Add("GET", "/dashboard/insight", [this](const std::shared_ptr<HttpExchange>& exchange) {
    Answer(exchange, "insight", kInsightLifetime, &DashboardService::Insight);
  });
}

void DashboardService::Answer(const std::shared_ptr<HttpExchange>& exchange, const std::string& what,
                              absl::Duration lifetime, Make make) {
  const auto caller = AuthenticateHttp(context_.authenticator, exchange->request());
  if (!caller.ok()) return exchange->Send(OpenAiErrorResponse(caller.status()));
  const std::string key = KeyOf(what, *caller);
  if (std::string kept = KeptFor(key, lifetime); !kept.empty()) return exchange->Send(JsonAnswer(std::move(kept)));
  const bool taken = context_.workers.TryRun([this, exchange, key, make, caller = *caller] {
    std::string body = (this->*make)(caller);
    Keep(key, body);
    exchange->Send(JsonAnswer(std::move(body)));
  });
  if (!taken) exchange->Send(OpenAiErrorResponse(TooBusy()));
}

std::string DashboardService::KeptFor(const std::string& key, absl::Duration lifetime) {
  MutexLock lock(mutex_);
  const auto kept = kept_.find(key);
  if (kept == kept_.end() || context_.now() - kept->second.time >= lifetime) return "";
  return kept->second.body;
}

void DashboardService::Keep(const std::string& key, const std::string& body) {
  MutexLock lock(mutex_);
  if (kept_.size() >= kKeptAnswers) kept_.clear();
  kept_[key] = {.time = context_.now(), .body = body};
}

std::string DashboardService::Data(const Caller& caller) const {
  const absl::Time now = context_.now();
  const ActivitySnapshot activity = activity_.Snapshot();
  if (caller.role == Role::kOperator) return OperatorData(activity, ToStatus(context_, activity.start, now), now);
  return TenantData(caller.tenant, activity_.SumsOf(caller.tenant), activity.currency, context_.model_name,
                    activity.start, now);
}

std::string DashboardService::Insight(const Caller& caller) const {
  std::vector<TenantInsight> insights;
  const bool all = caller.role == Role::kOperator;
  for (const std::string& tenant : all ? context_.history.tenants() : std::vector<std::string>{caller.tenant}) {
    insights.push_back(InsightOf(context_, tenant));
  }
  return InsightJson(insights);
}

}  // namespace headstart
