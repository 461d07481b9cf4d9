// What the engine says, as messages of the API. Every figure is set, so that zero is written as zero.

#ifndef HEADSTART_GATEWAY_SERVICES_CONVERT_H_
#define HEADSTART_GATEWAY_SERVICES_CONVERT_H_

#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "engine/generation.h"
#include "engine/text/tokenizer.h"
#include "gateway/accounting/usage_message.h"  // IWYU pragma: export
#include "headstart/v1/inference.pb.h"

namespace headstart {

v1::TierTokens ToTiers(const TokensByTier& tokens);
v1::CacheSplit ToCacheSplit(const GenerationUsage& usage);
v1::CacheSplit ToCacheSplit(const Match& match, int64_t prompt_tokens);
v1::Timings ToTimings(const GenerationTimings& timings);

// `tokenizer` gives the bytes of tokens, wanted with logprobs alone.
v1::GenerateDelta ToDelta(GenerationDelta delta, bool logprobs, const Tokenizer& tokenizer);

v1::Model ToModel(const Engine& engine, const std::string& name);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CONVERT_H_
