#include "gateway/telemetry/metrics_page.h"

#include <iterator>

#include "gateway/telemetry/text_format.h"
#include "prometheus/metric_family.h"

namespace headstart {

std::string MetricsPage::Render() const {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* source : sources_) {
    std::vector<prometheus::MetricFamily> collected = source->Collect();
    families.insert(families.end(), std::make_move_iterator(collected.begin()),
                    std::make_move_iterator(collected.end()));
  }
  return ToPrometheusText(families);
}

}  // namespace headstart
