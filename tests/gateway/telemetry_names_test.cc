// Rules, dashboards and documents name metrics that the server exports, and the documents name all of them.

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "gateway/auth/key_authenticator.h"
#include "gateway/telemetry/auth_metrics.h"
#include "gateway/telemetry/call_metrics.h"
#include "gateway/telemetry/engine_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gateway/telemetry/request_metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/gateway/fake_engine.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

using Names = std::set<std::string>;

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A histogram is asked for by its parts.
Names Exported() {
  FakeEngine engine;
  RequestMetrics requests({});
  EngineMetrics engine_metrics(engine, requests, "demo");
  TemporaryFolder folder;
  folder.Write("keys.yaml", "keys:\n");
  const auto keys = *KeyFile::Open(folder.Path("keys.yaml"), [](FileNews, const std::string&) {});
  KeyAuthenticator authenticator(*keys);
  AuthMetrics auth(authenticator);
  CallMetrics calls;
  Names names;
  for (const prometheus::Collectable* source :
       std::vector<const prometheus::Collectable*>{&requests, &engine_metrics, &auth, &calls}) {
    for (const prometheus::MetricFamily& family : source->Collect()) {
      EXPECT_TRUE(names.insert(family.name).second) << family.name;
      EXPECT_THAT(family.help, Not(IsEmpty())) << family.name;
    }
  }
  return names;
}

Names NamesIn(const std::string& text) {
  static const std::regex kName("(headstart_|vllm:)[a-z0-9_]+");
  Names names;
  for (std::sregex_iterator i(text.begin(), text.end(), kName), end; i != end; ++i) names.insert(i->str());
  return names;
}

std::string WithoutPart(const std::string& name) {
  for (const std::string part : {"_bucket", "_sum", "_count"}) {
    if (name.ends_with(part)) return name.substr(0, name.size() - part.size());
  }
  return name;
}

void ExpectExported(const std::string& path) {
  const Names exported = Exported();
  const Names used = NamesIn(Read(path));
  EXPECT_THAT(used, Not(IsEmpty())) << path;
  for (const std::string& name : used) {
    EXPECT_TRUE(exported.contains(name) || exported.contains(WithoutPart(name))) << path << " uses " << name;
  }
}

TEST(MetricNamesTest, OfAlertsAreExported) { ExpectExported("deploy/prometheus/alerts.yml"); }

TEST(MetricNamesTest, OfTheDashboardAreExported) { ExpectExported("deploy/grafana/headstart.json"); }

TEST(MetricNamesTest, OfTheDocumentAreThoseExported) {
  ExpectExported("docs/operations.md");
  const Names documented = NamesIn(Read("docs/operations.md"));
  for (const std::string& name : Exported()) EXPECT_TRUE(documented.contains(name)) << name << " is not documented";
}

// Debian's promtool, where it is installed. Names of other servers break its rules for names, and are left out.
TEST(MetricsPageTest, PromtoolFindsNothingToSay) {
  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "needs Debian's package prometheus";
  FakeEngine engine;
  RequestMetrics requests({.keeps_account = false});
  RequestRecord record;
  record.tenant = "a \"b\" \\ c";
  record.usage.completion_tokens = 2;
  requests.OnRequestFinished(record);
  EngineMetrics engine_metrics(engine, requests, "demo");
  std::istringstream page(MetricsPage({&requests, &engine_metrics}).Render());
  TemporaryFolder folder;
  std::ofstream file(folder.Path("page"));
  for (std::string line; std::getline(page, line);) {
    if (line.find("vllm:") == std::string::npos) file << line << '\n';
  }
  file.close();
  EXPECT_EQ(std::system(("promtool check metrics < " + folder.Path("page")).c_str()), 0);
}

// What a panel shows is asked of Prometheus, and each has a name and a unit.
TEST(DashboardTest, IsWellFormed) {
  const auto dashboard = nlohmann::json::parse(Read("deploy/grafana/headstart.json"));
  Names titles;
  for (const auto& panel : dashboard.at("panels")) {
    if (panel.at("type") == "row") continue;
    EXPECT_TRUE(titles.insert(panel.at("title")).second) << panel.at("title");
    EXPECT_FALSE(panel.at("targets").empty()) << panel.at("title");
    for (const auto& target : panel.at("targets")) EXPECT_FALSE(target.at("expr").get<std::string>().empty());
    EXPECT_TRUE(panel.at("fieldConfig").at("defaults").contains("unit")) << panel.at("title");
  }
  EXPECT_GE(titles.size(), 16);
}

}  // namespace
}  // namespace headstart::testing
