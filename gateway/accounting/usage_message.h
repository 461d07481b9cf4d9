// What the engine says of a request, as the account's messages. Every figure is set, so that zero is written as zero.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_USAGE_MESSAGE_H_
#define HEADSTART_GATEWAY_ACCOUNTING_USAGE_MESSAGE_H_

#include "engine/generation.h"
#include "headstart/v1/inference.pb.h"
#include "headstart/v1/usage.pb.h"

namespace headstart {

v1::TierTokens CachedByTier(const GenerationUsage& usage);
v1::Usage ToUsage(const GenerationUsage& usage);
v1::FinishReason ToFinishReason(FinishReason reason);

// kOtherTenant becomes NEW: a caller learns nothing of other tenants.
v1::MissReason ToMissReason(MissReason reason);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_USAGE_MESSAGE_H_
