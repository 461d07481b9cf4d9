#!/usr/bin/env bash
# Prints the figures of docs/benchmarks.md. Called by ./dev bench with the build folder first.
set -euo pipefail

build=$1
shift
usage() {
  cat <<'TEXT'
Usage: ./dev bench [store|tiers|gateway|kernels|model|ttft|all] [arguments of compare.py or tier_ttft.py]

  store     the prefix store: look-ups in large trees, publication, eviction
  tiers     host memory and disk, against memcpy and plain files
  gateway   what the gateway costs a warm request over gRPC and HTTP; the ledger; a scrape of the metrics
  kernels   the CPU kernels: matrix products by weight type, attention
  model     a seeded model of shape qwen3-0.6b in bf16 and Q8_0: prefill, decode, cold and warm time to first token;
            with --peer PATH, llama.cpp's llama-bench beside it on the same files
  ttft      the same model in bf16: time to first token with the prompt's beginning in each tier
  all       everything (default)
TEXT
}

part=${1:-all}
[ $# -eq 0 ] || shift

store() { "$build/tests/bench/prefix_store_benchmark"; }
tiers() { "$build/tests/bench/tier_benchmark"; }
gateway() {
  "$build/tests/bench/gateway_benchmark"
  "$build/tests/bench/ledger_benchmark"
  "$build/tests/bench/telemetry_benchmark"
}
kernels() { "$build/tests/bench/kernels_benchmark"; }

models=build/bench-models
make_model() {
  mkdir -p "$models"
  [ -f "$models/qwen3-0.6b-$1.gguf" ] ||
    "$build/gateway/headstart" synth-model "$models/qwen3-0.6b-$1.gguf" --shape qwen3-0.6b --format gguf --dtype "$1"
}

model() {
  make_model bf16
  make_model q8_0
  python3 tests/bench/compare.py --ours "$build/tests/bench/model_benchmark" "$@" \
    "$models/qwen3-0.6b-bf16.gguf" "$models/qwen3-0.6b-q8_0.gguf"
}

ttft() {
  make_model bf16
  python3 tests/bench/tier_ttft.py --headstart "$build/gateway/headstart" "$@" "$models/qwen3-0.6b-bf16.gguf"
}

case "$part" in
  store) store ;;
  tiers) tiers ;;
  gateway) gateway ;;
  kernels) kernels ;;
  model) model "$@" ;;
  ttft) ttft "$@" ;;
  all) store; tiers; gateway; kernels; model "$@"; ttft ;;
  --help | -h | help) usage ;;
  *) echo "bench: unknown part '$part'" >&2; usage >&2; exit 2 ;;
esac
