// PrefixStoreStats: what a store has counted and measured.
//
// Thread-safety: plain values.

#ifndef HEADSTART_PREFIX_STORE_PREFIX_STORE_STATS_H_
#define HEADSTART_PREFIX_STORE_PREFIX_STORE_STATS_H_

#include <array>
#include <cstdint>

#include "prefix_store/seconds_histogram.h"
#include "prefix_store/tier/tier.h"

namespace headstart {

inline constexpr std::array<double, 14> kBlockAgeBoundsSeconds = {1,   2,   5,    10,   30,    60,    120,
                                                                  300, 600, 1800, 3600, 14400, 86400, 604800};
inline constexpr std::array<double, 15> kTransferBoundsSeconds = {.0001, .00025, .0005, .001, .0025, .005, .01, .025,
                                                                  .05,   .1,     .25,   .5,   1,     2.5,  10};

// What tells whoever sizes the tiers whether more room would bring more hits. Of a block that the disk kept over a
// restart, ages count from that restart on.
struct BlockAgeHistograms {
  // From the end of a block's last use to the next acquisition that found it. Not of one that found it in use.
  SecondsHistogram reuse_gap{kBlockAgeBoundsSeconds};

  // From the end of a block's last use to the moment a tier gave it up for lack of room, by TierKind: the counts are
  // each tier's evictions.
  std::array<SecondsHistogram, kTierKinds> idle_before_eviction{SecondsHistogram(kBlockAgeBoundsSeconds),
                                                                SecondsHistogram(kBlockAgeBoundsSeconds),
                                                                SecondsHistogram(kBlockAgeBoundsSeconds)};

  // From a block's publication to the moment no tier had it any more, for lack of room or because its time was over. Of
  // one block in BlockAges::kBirthSample.
  SecondsHistogram lifetime{kBlockAgeBoundsSeconds};
};

// How long transfers of up to 16 blocks took, without their wait for a thread.
struct TransferHistograms {
  SecondsHistogram host_reads{kTransferBoundsSeconds};
  SecondsHistogram disk_reads{kTransferBoundsSeconds};
  SecondsHistogram disk_writes{kTransferBoundsSeconds};
};

// Counts since the start, and levels now. Blocks and tokens; never bytes, which the store does not know.
struct PrefixStoreStats {
  int64_t pool_blocks = 0;
  int64_t free_blocks = 0;
  int64_t leased_blocks = 0;     // held by running sequences or pins
  int64_t pinned_blocks = 0;     // of those, held by pins
  int64_t reserved_blocks = 0;   // of the free and the evictable ones: promised to running sequences
  int64_t evictable_blocks = 0;  // cached and not leased
  int64_t cached_tokens = 0;     // tokens that the tree can give
  int64_t nodes = 0;
  int64_t acquisitions = 0;
  int64_t queried_tokens = 0;  // tokens of all acquisitions that read the cache
  int64_t hit_tokens = 0;      // of those, tokens found
  int64_t written_tokens = 0;
  int64_t evicted_blocks = 0;  // from the device
  int64_t expired_blocks = 0;  // forgotten because their time to live had passed
  int64_t copied_blocks = 0;

  // --- the tiers below the device
  int64_t host_blocks = 0;  // slots there
  int64_t host_used_blocks = 0;
  int64_t disk_blocks = 0;  // records that the disk may hold
  int64_t disk_used_blocks = 0;
  int64_t host_stored_blocks = 0;
  int64_t host_loaded_blocks = 0;
  int64_t disk_loaded_blocks = 0;
  int64_t disk_stored_blocks = 0;
  int64_t dropped_blocks = 0;               // forgotten because no lower tier could take them
  int64_t bad_blocks = 0;                   // came back damaged or not at all
  int64_t disk_failures = 0;                // transfers that the disk refused
  int64_t disk_outages = 0;                 // times that the disk was turned off for it
  bool disk_on = false;                     // in use for writing
  int64_t recomputed_by_choice_tokens = 0;  // cached below, but sooner computed, or not readable
  int64_t transfers_pending = 0;
  TransferHistograms transfers;
  BlockAgeHistograms ages;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_STORE_STATS_H_
