#!/usr/bin/env python3
"""Time to the first token of one long prompt whose beginning is cached nowhere, on the device, in host memory or on disk.

    tests/bench/tier_ttft.py --headstart build/release/gateway/headstart MODEL

Starts servers on loopback, with device memory for hardly more than one prompt, host memory for several and a disk below; calls
them with the command line's own client; prints medians of the times that the server reports, and where it found the prompt.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import tempfile

WORDS = "red lamp old desk north wall file room key green door chart stone paper south gate glass shelf tall box".split()


def text(seed, words):
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(words))


class Server:
    def __init__(self, args, directory):
        command = [args.headstart, "serve", "--model", args.model, "--listen", "127.0.0.1:0", "--http-listen", "",
                   "--log-level", "warn", "--kv-cache-size", args.kv_cache_size, "--host-cache-size", args.host_cache_size,
                   "--disk-cache-dir", directory, "--disk-cache-size", args.disk_cache_size, "--step-tokens", "256"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.address = re.search(r"at (127\.0\.0\.1:\d+)", self.process.stdout.readline()).group(1)
        self.headstart = args.headstart

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def ask(self, prompt):
        answer = subprocess.run([self.headstart, "generate", prompt, "--max-tokens", "1", "--ignore-eos", "--json",
                                 "--server", self.address], check=True, stdout=subprocess.PIPE, text=True).stdout
        finished = json.loads(answer)["finished"]
        usage = finished["usage"]
        tiers = {tier: int(tokens) for tier, tokens in usage["cached_by_tier"].items() if int(tokens)}
        return {"ms": 1000 * float(finished["timings"]["time_to_first_token"].rstrip("s")),
                "prompt": int(usage["prompt_tokens"]), "tiers": tiers}


def prompt_of(server, seed, tokens):
    """A text of about so many tokens, by how many the words of another one have."""
    words = int(tokens / (server.ask(text(0, 64))["prompt"] / 64))
    return text(seed, words)


def measure(args, figures):
    with tempfile.TemporaryDirectory(dir=args.directory) as directory:
        with Server(args, directory) as server:
            shared, *others = (prompt_of(server, seed, args.tokens) for seed in (1, 2, 3))
            suffix = iter(range(1000))
            ask = lambda what: figures.setdefault(what, []).append(server.ask(f"{shared} {text(100 + next(suffix), args.suffix)}"))
            ask("cold")
            ask("device")
            for measured in (False, True):  # memory that is touched for the first time is slow
                for other in others:
                    server.ask(other)  # pushes the prompt to host memory
                ask("host memory") if measured else server.ask(shared)
        with Server(args, directory) as server:
            ask("disk, after a restart")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--headstart", required=True)
    parser.add_argument("--tokens", type=int, default=2048, help="of the shared beginning")
    parser.add_argument("--suffix", type=int, default=6, help="words after it, which no other request has")
    parser.add_argument("--kv-cache-size", default="288MiB")
    parser.add_argument("--host-cache-size", default="1GiB")
    parser.add_argument("--disk-cache-size", default="4GiB")
    parser.add_argument("--directory", help="where the disk cache goes for the time of the run")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    figures = {}
    for _ in range(args.rounds):
        measure(args, figures)
    cold = statistics.median(one["ms"] for one in figures["cold"])
    print(f"\n### {os.path.basename(args.model)}: from each tier\n")
    print("| from | prompt tokens | cached by tier, first round | first token, ms | against cold |")
    print("| --- | ---: | --- | ---: | ---: |")
    for what, rounds in figures.items():
        ms = statistics.median(one["ms"] for one in rounds)
        tiers = ", ".join(f"{tier} {tokens:,}" for tier, tokens in rounds[0]["tiers"].items()) or "none"
        print(f"| {what} | {rounds[0]['prompt']:,} | {tiers} | {ms:,.1f} | {cold / ms:.1f}x |")


if __name__ == "__main__":
    main()
