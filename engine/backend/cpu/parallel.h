// How work is cut for the pool. The cuts decide speed alone, never a result.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_PARALLEL_H_
#define HEADSTART_ENGINE_BACKEND_CPU_PARALLEL_H_

#include <algorithm>
#include <cstdint>

#include "engine/backend/thread_pool.h"

namespace headstart {

// Pieces for each thread, so that a thread that was interrupted leaves its share to others.
inline constexpr int kPiecesPerThread = 4;

// Floats that one thread passes over in about the time that waking another takes.
inline constexpr int64_t kWorthSharing = 16384;

// body(first, last, worker) over near-equal contiguous pieces of [0, count).
template <typename Body>
void ForPieces(ThreadPool& pool, int count, int pieces, Body&& body) {
  pool.ParallelFor(pieces, [&](int piece, int worker) {
    const auto first = static_cast<int>(int64_t{count} * piece / pieces);
    const auto last = static_cast<int>(int64_t{count} * (piece + 1) / pieces);
    body(first, last, worker);
  });
}

// body(row, worker) for each row, on one thread when the rows of `columns` floats are little work.
template <typename Body>
void ForRows(ThreadPool& pool, int rows, int columns, Body&& body) {
  const bool share = int64_t{rows} * columns >= kWorthSharing;
  const int pieces = share ? std::min(rows, pool.threads() * kPiecesPerThread) : 1;
  ForPieces(pool, rows, pieces, [&](int first, int last, int worker) {
    for (int row = first; row < last; ++row) body(row, worker);
  });
}

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_PARALLEL_H_
