// The fingerprint of a model on a backend: a digest of everything that decides the bytes of a KV block.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_TRANSFORMER_FINGERPRINT_H_
#define HEADSTART_ENGINE_TRANSFORMER_FINGERPRINT_H_

#include <string>
#include <string_view>

#include "engine/backend/backend.h"
#include "engine/model/model_config.h"
#include "prefix_store/types.h"

namespace headstart {

// What is digested, as text of `name=value` lines with lengths before strings, so that no two inputs spell alike. Left
// out is what decides no KV byte: the model's name, its context window, its end tokens.
std::string DescribeForFingerprint(const Fingerprint& weights, const ModelConfig& config, const KvShape& shape,
                                   std::string_view numerics);

// XXH3-128 of that text.
Fingerprint FingerprintOf(std::string_view description);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TRANSFORMER_FINGERPRINT_H_
