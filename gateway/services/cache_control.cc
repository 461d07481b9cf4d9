#include "gateway/services/cache_control.h"

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

int8_t ToPriority(v1::CachePriority priority) {
  if (priority == v1::CACHE_PRIORITY_LOW) return -1;
  return priority == v1::CACHE_PRIORITY_HIGH ? 1 : 0;
}

}  // namespace

absl::Status CheckCacheControl(const v1::CacheControl& control) {
  if (!v1::CachePriority_IsValid(control.priority())) {
    return InvalidField("cache.priority", fmt::format("is {}, which is none; it is LOW, NORMAL or HIGH",
                                                      static_cast<int>(control.priority())));
  }
  return control.has_ttl() ? ParseTtl("cache.ttl", control.ttl()).status() : absl::OkStatus();
}

void ApplyCacheControl(const v1::CacheControl& control, GenerationRequest& request) {
  request.read_cache = !control.has_read() || control.read();
  request.write_cache = !control.has_write() || control.write();
  request.priority = ToPriority(control.priority());
  if (control.has_ttl()) request.ttl = *ParseTtl("cache.ttl", control.ttl());
}

}  // namespace headstart
