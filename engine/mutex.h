// The mutex that all of Headstart uses, under the name by which the layers from the engine upwards know it.

#ifndef HEADSTART_ENGINE_MUTEX_H_
#define HEADSTART_ENGINE_MUTEX_H_

#include "prefix_store/mutex.h"  // IWYU pragma: export

#endif  // HEADSTART_ENGINE_MUTEX_H_
