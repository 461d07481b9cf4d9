#include "gateway/services/version.h"

namespace headstart {

std::string_view Version() { return HEADSTART_VERSION; }

}  // namespace headstart
