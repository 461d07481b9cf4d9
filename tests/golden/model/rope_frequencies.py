"""Rotary frequencies from the published formulas, in plain Python.

Sources: transformers' modeling_rope_utils (default, linear, llama3, yarn), Llama 3.1's apply_scaling, YaRN arXiv:2309.00071.
Prints JSON: a list of cases, each with the configuration and the frequencies as doubles.
"""
import json
import math


def base_frequencies(theta, dim):
    return [1.0 / theta ** (2 * i / dim) for i in range(dim // 2)]


def linear(theta, dim, factor):
    return [f / factor for f in base_frequencies(theta, dim)]


def llama3(theta, dim, factor, low, high, original):
    result = []
    for f in base_frequencies(theta, dim):
        wavelen = 2 * math.pi / f
        if wavelen < original / high:
            result.append(f)
        elif wavelen > original / low:
            result.append(f / factor)
        else:
            smooth = (original / wavelen - low) / (high - low)
            result.append((1 - smooth) * f / factor + smooth * f)
    return result


def yarn(theta, dim, factor, original, beta_fast=32, beta_slow=1, truncate=True):
    def correction_dim(rotations):
        return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(theta))

    low, high = correction_dim(beta_fast), correction_dim(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    result = []
    for i in range(dim // 2):
        exponent = theta ** (2 * i / dim)
        extrapolation, interpolation = 1 / exponent, 1 / (factor * exponent)
        keep = 1 - min(max((i - low) / (high - low), 0), 1)
        result.append(interpolation * (1 - keep) + extrapolation * keep)
    return result


def yarn_magnitude(factor, mscale=1.0):
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def config(theta, dim, max_positions, scaling):
    return {"head_dim": dim, "rope_theta": theta, "max_position_embeddings": max_positions, "rope_scaling": scaling}


def cases():
    def case(name, theta, dim, max_positions, scaling, inverse, magnitude=1.0):
        return {"name": name, "config": config(theta, dim, max_positions, scaling), "inverse": inverse,
                "magnitude": magnitude}

    yield case("default", 1e6, 128, 40960, None, base_frequencies(1e6, 128))
    yield case("named_default", 1e4, 64, 2048, {"rope_type": "default"}, base_frequencies(1e4, 64))
    yield case("linear_old_key", 1e4, 64, 16384, {"type": "linear", "factor": 8.0}, linear(1e4, 64, 8.0))
    yield case("llama31", 5e5, 128, 131072,
               {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192}, llama3(5e5, 128, 8.0, 1.0, 4.0, 8192))
    yield case("llama32", 5e5, 64, 131072,
               {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192}, llama3(5e5, 64, 32.0, 1.0, 4.0, 8192))
    yield case("qwen3_yarn", 1e6, 128, 40960,
               {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
               yarn(1e6, 128, 4.0, 32768), yarn_magnitude(4.0))
    yield case("yarn_betas_not_truncated", 1.5e5, 64, 131072,
               {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 24.0,
                "beta_slow": 2.0, "truncate": False}, yarn(1.5e5, 64, 32.0, 4096, 24.0, 2.0, False), yarn_magnitude(32.0))
    yield case("yarn_attention_factor", 1e4, 64, 8192,
               {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4096, "attention_factor": 1.25},
               yarn(1e4, 64, 2.0, 4096), 1.25)
    yield case("yarn_mscale", 1e4, 64, 163840,
               {"type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 0.707,
                "mscale_all_dim": 1.0}, yarn(1e4, 64, 40.0, 4096), yarn_magnitude(40.0, 0.707) / yarn_magnitude(40.0, 1.0))
    yield case("yarn_no_ramp", 1e4, 8, 512, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 6},
               yarn(1e4, 8, 4.0, 6), yarn_magnitude(4.0))
    yield case("yarn_factor_from_positions", 1e6, 64, 65536,
               {"rope_type": "yarn", "original_max_position_embeddings": 16384}, yarn(1e6, 64, 4.0, 16384), yarn_magnitude(4.0))


if __name__ == "__main__":
    print("[\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]")
