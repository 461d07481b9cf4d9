// AttentionRunner: causal attention of a ragged batch over its KV pages, on all threads.
//
// The keys of a sequence are reduced in spans of kSpanKeys aligned to position 0, each on its own, and the spans of a
// query are merged in order. Long contexts with few queries are shared between threads by spans, everything else by
// tiles of query rows; both give the same bits.
//
// Thread-safety: none; it drives the pool.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_ATTENTION_H_
#define HEADSTART_ENGINE_BACKEND_CPU_ATTENTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/batch.h"
#include "engine/backend/cpu/kv_pages.h"
#include "engine/backend/cpu/scratch.h"
#include "engine/backend/thread_pool.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart {

class AttentionRunner {
 public:
  AttentionRunner(const kernels::KernelTable& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}

  void Run(const KvPages& pages, const RaggedBatch& batch, const AttentionSpec& spec, Activations q, Activations out);

 private:
  // Query rows of one sequence and KV head: row r is head r % group of token r / group, counted from the sequence's
  // first.
  struct Tile {
    int sequence;
    int kv_head;
    int first_row;
    int rows;
    int first_span;
    int last_span;          // one past
    int64_t first_partial;  // of its per-span results, when it is split; −1 when not
  };
  // What one thread does at a time: some spans of a tile.
  struct Piece {
    int tile;
    int first_span;
    int last_span;
  };
  struct Call;  // the arguments of Run
  struct WorkerScratch {
    Scratch<std::byte> queries;
    Scratch<float> scores;
    Scratch<float> span;   // one span's results, as Partial lays them out
    Scratch<float> state;  // merged results
  };
  // Results of up to kMaxTileRows rows: outputs [rows][stride], then maxima [rows], then sums [rows].
  struct Partial {
    float* outputs;
    float* maxima;
    float* sums;
  };

  void PlanTiles(const Call& call);
  void PlanPieces();
  void RunPiece(const Call& call, const Piece& piece, int worker);
  void ReduceSpan(const Call& call, const Tile& tile, int span, WorkerScratch& scratch, const Partial& result);
  void MergeTile(const Call& call, const Tile& tile, int worker);
  void MergeSpan(const Call& call, const Tile& tile, int span, const Partial& state, const Partial& next);
  void Finish(const Call& call, const Tile& tile, const Partial& state);
  void PrepareQueries(const Call& call, const Tile& tile, std::byte* queries);
  Partial PartialAt(float* memory) const;
  Partial SplitPartial(const Tile& tile, int span);

  const kernels::KernelTable& kernels_;
  ThreadPool& pool_;
  std::vector<WorkerScratch> workers_{static_cast<size_t>(pool_.threads())};
  std::vector<Tile> tiles_;
  std::vector<Piece> pieces_;
  Scratch<float> partials_;
  int64_t partial_count_ = 0;
  int output_stride_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_ATTENTION_H_
