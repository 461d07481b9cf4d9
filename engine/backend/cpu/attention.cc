#include "engine/backend/cpu/attention.h"

#include <algorithm>

#include "engine/backend/cpu/parallel.h"

namespace headstart {
namespace {

using kernels::kKeyLanes;
using kernels::kMaxTileRows;
using kernels::kSpanGroups;
using kernels::kSpanKeys;
using kernels::SpanCall;

struct KeyRange {
  int first;
  int last;  // one past
};

// Positions that the token at `position` sees.
KeyRange VisibleKeys(int position, int window) {
  return {window > 0 ? std::max(0, position - window + 1) : 0, position + 1};
}

// The part of a range that lies in a span, counted from the span's start; empty ranges have first >= last.
KeyRange WithinSpan(KeyRange keys, int span) {
  const int start = span * kSpanKeys;
  return {std::max(keys.first - start, 0), std::min(keys.last - start, kSpanKeys)};
}

// Where a span's keys and values lie.
struct SpanPlaces {
  const std::byte* key_groups[kSpanGroups];
  const std::byte* key_group_tails[kSpanGroups];
  const std::byte* value_blocks[kernels::kMaxSpanBlocks];
};

// One sequence's pages of one layer and KV head.
struct HeadPages {
  const KvPages& pages;
  std::span<const SlotIndex> blocks;
  int layer;
  int kv_head;

  const std::byte* Keys(int block) const { return pages.Keys(blocks[block], layer, kv_head); }
};

// Fills the places of the blocks that the sequence has.
void LocateWholeGroups(const HeadPages& head, int first_block, int last_block, SpanPlaces& places) {
  const int groups = head.pages.shape().block_tokens / kKeyLanes;
  for (int block = first_block; block < last_block; ++block) {
    const std::byte* keys = head.Keys(block);
    const std::byte** out = places.key_groups + (block - first_block) * groups;
    for (int group = 0; group < groups; ++group) out[group] = keys + group * head.pages.key_group_bytes();
  }
}

// Blocks of 8 tokens: two make a group of 16 keys. Where the second is missing any readable place does, since none of
// its keys is visible.
void LocateHalfGroups(const HeadPages& head, int first_block, int last_block, SpanPlaces& places) {
  for (int block = first_block; block < last_block; block += 2) {
    const int group = (block - first_block) / 2;
    places.key_groups[group] = head.Keys(block);
    places.key_group_tails[group] = head.Keys(block + 1 < last_block ? block + 1 : block);
  }
}

void Locate(const HeadPages& head, int span, SpanPlaces& places) {
  const int span_blocks = kSpanKeys >> head.pages.block_tokens_log2();
  const int first = span * span_blocks;
  const int last = std::min(first + span_blocks, static_cast<int>(head.blocks.size()));
  // Groups past the sequence's last block are never visible, but may be named by a prefetch.
  std::fill_n(places.key_groups, kSpanGroups, head.Keys(first));
  if (head.pages.key_lanes() == kKeyLanes) {
    LocateWholeGroups(head, first, last, places);
  } else {
    LocateHalfGroups(head, first, last, places);
  }
  for (int block = first; block < last; ++block) {
    places.value_blocks[block - first] = head.pages.Values(head.blocks[block], head.layer, head.kv_head);
  }
}

}  // namespace

struct AttentionRunner::Call {
  const KvPages& pages;
  const RaggedBatch& batch;
  const AttentionSpec& spec;
  Activations q;
  Activations out;
  int group;  // query heads that share a KV head

  int head_dim() const { return pages.shape().head_dim; }
  bool bf16() const { return pages.shape().dtype == DType::kBF16; }
  ptrdiff_t query_stride() const { return ptrdiff_t{head_dim()} * (bf16() ? 2 : 4); }
  // The token, of the whole batch, and the column of a tile's row.
  int TokenOf(const Tile& tile, int row) const {
    return batch.sequence_starts[tile.sequence] + (tile.first_row + row) / group;
  }
  int ColumnOf(const Tile& tile, int row) const {
    return (tile.kv_head * group + (tile.first_row + row) % group) * head_dim();
  }
  KeyRange KeysOf(const Tile& tile, int row) const {
    return VisibleKeys(batch.positions[TokenOf(tile, row)], spec.window);
  }
  std::span<const SlotIndex> BlocksOf(int sequence) const {
    const int first = batch.block_table_starts[sequence];
    return batch.block_tables.subspan(first, batch.block_table_starts[sequence + 1] - first);
  }
};

void AttentionRunner::Run(const KvPages& pages, const RaggedBatch& batch, const AttentionSpec& spec, Activations q,
                          Activations out) {
  const Call call = {pages, batch, spec, q, out, spec.heads / pages.shape().kv_heads};
  output_stride_ = (call.head_dim() + kKeyLanes - 1) / kKeyLanes * kKeyLanes;
  PlanTiles(call);
  PlanPieces();
  pool_.ParallelFor(static_cast<int>(pieces_.size()),
                    [&](int piece, int worker) { RunPiece(call, pieces_[piece], worker); });
  if (partial_count_ == 0) return;
  pool_.ParallelFor(static_cast<int>(tiles_.size()), [&](int tile, int worker) {
    if (tiles_[tile].first_partial >= 0) MergeTile(call, tiles_[tile], worker);
  });
}

void AttentionRunner::PlanTiles(const Call& call) {
  tiles_.clear();
  for (int sequence = 0; sequence < call.batch.num_sequences(); ++sequence) {
    const int tokens = call.batch.sequence_starts[sequence + 1] - call.batch.sequence_starts[sequence];
    const int rows = tokens * call.group;
    for (int kv_head = 0; kv_head < call.pages.shape().kv_heads; ++kv_head) {
      for (int row = 0; row < rows; row += kMaxTileRows) {
        Tile tile = {sequence, kv_head, row, std::min(kMaxTileRows, rows - row), 0, 0, -1};
        tile.first_span = call.KeysOf(tile, 0).first / kSpanKeys;
        tile.last_span = (call.KeysOf(tile, tile.rows - 1).last - 1) / kSpanKeys + 1;
        tiles_.push_back(tile);
      }
    }
  }
}

// Splits tiles by spans where there are too few of them to keep all threads busy.
void AttentionRunner::PlanPieces() {
  pieces_.clear();
  partial_count_ = 0;
  const int wanted = pool_.threads() == 1 ? 1 : pool_.threads() * kPiecesPerThread;
  const int splits = std::max(1, wanted / std::max(1, static_cast<int>(tiles_.size())));
  for (int index = 0; index < static_cast<int>(tiles_.size()); ++index) {
    Tile& tile = tiles_[index];
    const int spans = tile.last_span - tile.first_span;
    const int pieces = std::min(splits, spans);
    if (pieces > 1) {
      tile.first_partial = partial_count_;
      partial_count_ += spans;
    }
    for (int piece = 0; piece < pieces; ++piece) {
      pieces_.push_back(
          {index, tile.first_span + spans * piece / pieces, tile.first_span + spans * (piece + 1) / pieces});
    }
  }
  partials_.Reserve(static_cast<size_t>(partial_count_) * kMaxTileRows * (output_stride_ + 2));
}

AttentionRunner::Partial AttentionRunner::PartialAt(float* memory) const {
  float* maxima = memory + kMaxTileRows * output_stride_;
  return {memory, maxima, maxima + kMaxTileRows};
}

AttentionRunner::Partial AttentionRunner::SplitPartial(const Tile& tile, int span) {
  const int64_t index = tile.first_partial + span - tile.first_span;
  return PartialAt(partials_.data() + index * kMaxTileRows * (output_stride_ + 2));
}

void AttentionRunner::RunPiece(const Call& call, const Piece& piece, int worker) {
  const Tile& tile = tiles_[piece.tile];
  WorkerScratch& scratch = workers_[worker];
  PrepareQueries(call, tile, scratch.queries.Reserve(tile.rows * call.query_stride()));
  if (tile.first_partial >= 0) {
    for (int span = piece.first_span; span < piece.last_span; ++span) {
      ReduceSpan(call, tile, span, scratch, SplitPartial(tile, span));
    }
    return;
  }
  const size_t partial_floats = static_cast<size_t>(kMaxTileRows) * (output_stride_ + 2);
  const Partial next = PartialAt(scratch.span.Reserve(partial_floats));
  const Partial state = PartialAt(scratch.state.Reserve(partial_floats));
  std::fill_n(state.sums, tile.rows, 0.0f);
  for (int span = piece.first_span; span < piece.last_span; ++span) {
    ReduceSpan(call, tile, span, scratch, next);
    MergeSpan(call, tile, span, state, next);
  }
  Finish(call, tile, state);
}

void AttentionRunner::MergeTile(const Call& call, const Tile& tile, int worker) {
  const size_t partial_floats = static_cast<size_t>(kMaxTileRows) * (output_stride_ + 2);
  const Partial state = PartialAt(workers_[worker].state.Reserve(partial_floats));
  std::fill_n(state.sums, tile.rows, 0.0f);
  for (int span = tile.first_span; span < tile.last_span; ++span) {
    MergeSpan(call, tile, span, state, SplitPartial(tile, span));
  }
  Finish(call, tile, state);
}

void AttentionRunner::PrepareQueries(const Call& call, const Tile& tile, std::byte* queries) {
  for (int row = 0; row < tile.rows; ++row) {
    const float* query = call.q.data + int64_t{call.TokenOf(tile, row)} * call.q.stride + call.ColumnOf(tile, row);
    std::byte* out = queries + row * call.query_stride();
    if (call.bf16()) {
      kernels_.to_bf16(query, call.head_dim(), reinterpret_cast<uint16_t*>(out));
    } else {
      std::copy_n(query, call.head_dim(), reinterpret_cast<float*>(out));
    }
  }
}

void AttentionRunner::ReduceSpan(const Call& call, const Tile& tile, int span, WorkerScratch& scratch,
                                 const Partial& result) {
  const HeadPages head = {call.pages, call.BlocksOf(tile.sequence), call.spec.layer, tile.kv_head};
  SpanPlaces places, next;
  Locate(head, span, places);
  const bool fetch_next = span + 1 < tile.last_span && call.pages.key_lanes() == kKeyLanes;
  if (fetch_next) Locate(head, span + 1, next);
  int first[kMaxTileRows], last[kMaxTileRows];
  for (int row = 0; row < tile.rows; ++row) {
    const KeyRange keys = WithinSpan(call.KeysOf(tile, row), span);
    first[row] = keys.first;
    last[row] = keys.last;
  }
  const SpanCall arguments = {
      .queries = scratch.queries.data(),
      .query_stride = call.query_stride(),
      .rows = tile.rows,
      .head_dim = call.head_dim(),
      .scale = call.spec.scale,
      .first = first,
      .last = last,
      .key_groups = places.key_groups,
      .key_group_tails = places.key_group_tails,
      .key_lanes = call.pages.key_lanes(),
      .next_key_groups = fetch_next ? next.key_groups : nullptr,
      .value_blocks = places.value_blocks,
      .block_tokens_log2 = call.pages.block_tokens_log2(),
      .scores = scratch.scores.Reserve(size_t{kMaxTileRows} * kernels::kScoreStride),
      .maxima = result.maxima,
      .sums = result.sums,
      .outputs = result.outputs,
      .output_stride = output_stride_,
  };
  call.bf16() ? kernels_.attend_bf16(arguments) : kernels_.attend_f32(arguments);
}

void AttentionRunner::MergeSpan(const Call& call, const Tile& tile, int span, const Partial& state,
                                const Partial& next) {
  for (int row = 0; row < tile.rows; ++row) {
    const KeyRange keys = WithinSpan(call.KeysOf(tile, row), span);
    if (keys.first >= keys.last) continue;
    const ptrdiff_t at = ptrdiff_t{row} * output_stride_;
    kernels_.merge_softmax({state.maxima + row, state.sums + row, state.outputs + at},
                           {next.maxima + row, next.sums + row, next.outputs + at}, call.head_dim());
  }
}

void AttentionRunner::Finish(const Call& call, const Tile& tile, const Partial& state) {
  for (int row = 0; row < tile.rows; ++row) {
    float* out = call.out.data + int64_t{call.TokenOf(tile, row)} * call.out.stride + call.ColumnOf(tile, row);
    kernels_.finish_softmax({state.maxima + row, state.sums + row, state.outputs + ptrdiff_t{row} * output_stride_},
                            call.head_dim(), out);
  }
}

}  // namespace headstart
