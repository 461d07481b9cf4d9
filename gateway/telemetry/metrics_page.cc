#include "gateway/telemetry/metrics_page.h"

#include <iterator>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace headstart {

std::string MetricsPage::Render() const {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* source : sources_) {
    std::vector<prometheus::MetricFamily> collected = source->Collect();
    families.insert(families.end(), std::make_move_iterator(collected.begin()),
                    std::make_move_iterator(collected.end()));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace headstart
