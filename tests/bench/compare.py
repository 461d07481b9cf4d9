#!/usr/bin/env python3
"""Headstart beside a peer on the same model files, in one run: rounds alternate, medians are printed as a Markdown table.

    tests/bench/compare.py --ours build/release/tests/bench/model_benchmark --peer .../llama-bench \
        qwen3-0.6b-bf16.gguf qwen3-0.6b-q8_0.gguf

The peer is llama.cpp's llama-bench, built by whoever runs this; without --peer the table has our figures alone.
"""

import argparse
import json
import os
import statistics
import subprocess


def run_json_lines(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def our_figures(args, model):
    command = [args.ours, "--model", model, "--threads", str(args.threads), "--repeat", "1"]
    for name in ("prefill", "depth"):
        for tokens in getattr(args, name):
            command += [f"--{name}", str(tokens)]
    rows = run_json_lines(command)
    return {(row["what"], row["tokens"]): row["tokens_per_s"] for row in rows}


def peer_figures(args, model):
    """llama-bench at the depth of each decode; its cache type and attention flags are passed through."""
    base = [args.peer, "-m", model, "-t", str(args.threads), "-r", "1", "-o", "jsonl", *args.peer_flags.split()]
    prefill = run_json_lines(base + ["-p", ",".join(map(str, args.prefill)), "-n", "0"])
    decode = run_json_lines(base + ["-p", "0", "-n", str(args.decode), "-d", ",".join(map(str, args.depth))])
    figures = {("prefill", row["n_prompt"]): row["avg_ts"] for row in prefill}
    figures.update({("decode", row["n_depth"]): row["avg_ts"] for row in decode})
    return figures


def engine_figures(args, model):
    command = [args.ours, "--model", model, "--threads", str(args.threads), "--repeat", str(args.rounds)]
    for name in ("ttft", "unique"):
        for tokens in getattr(args, name):
            command += [f"--{name}", str(tokens)]
    return run_json_lines(command)


def medians(rounds):
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def print_speeds(model, ours, peer):
    print(f"\n### {os.path.basename(model)}\n")
    print("| what | tokens | Headstart, tokens/s | peer, tokens/s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for (what, tokens), speed in ours.items():
        other = peer.get((what, tokens)) if peer else None
        columns = f"{other:.1f} | {speed / other:.2f}" if other else "— | —"
        label = f"prefill of {tokens:,}" if what == "prefill" else f"decode at depth {tokens:,}"
        print(f"| {label} | {tokens:,} | {speed:.1f} | {columns} |")


def print_unique(rows):
    print("\n| prompts that share nothing | tokens each | tokens/s |")
    print("| --- | ---: | ---: |")
    for row in rows:
        print(f"| {'with' if row['what'] == 'unique_cached' else 'without'} caching | {row['tokens']:,} | {row['tokens_per_s']:.1f} |")


def print_ttft(rows):
    print("\n| time to first token | prompt tokens | cached | ms |")
    print("| --- | ---: | ---: | ---: |")
    for row in rows:
        kind = row["what"].removeprefix("ttft_")
        print(f"| {kind} | {row['tokens']:,} | {row['cached']:,} | {row['ms']:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--peer-flags", default="-fa 1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--decode", type=int, default=32, help="tokens decoded for each figure")
    parser.add_argument("--prefill", type=int, nargs="*", default=[512, 2048])
    parser.add_argument("--depth", type=int, nargs="*", default=[0, 4096])
    parser.add_argument("--ttft", type=int, nargs="*", default=[2048])
    parser.add_argument("--unique", type=int, nargs="*", default=[512])
    args = parser.parse_args()
    for model in args.models:
        ours, peer = [], []
        for _ in range(args.rounds):
            ours.append(our_figures(args, model))
            if args.peer:
                peer.append(peer_figures(args, model))
        print_speeds(model, medians(ours), medians(peer) if peer else None)
        rows = engine_figures(args, model) if args.ttft or args.unique else []
        if args.ttft:
            print_ttft([row for row in rows if row["what"].startswith("ttft_")])
        if args.unique:
            print_unique([row for row in rows if row["what"].startswith("unique_")])


if __name__ == "__main__":
    main()
