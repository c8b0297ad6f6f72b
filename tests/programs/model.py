"""Writes a tiny language model with random weights, for llama.cpp:  model.py FILE

The format is GGUF 3: names and values, then where each tensor is, then the tensors. The model has the shape of a
Llama and no words, only numbers for them, so a benchmark can run it and nobody can talk to it.
"""

import random
import struct
import sys

WORDS, WIDTH, HIDDEN, HEADS, LAYERS = 512, 256, 512, 4, 2
ALIGNMENT = 32

# Types of the format: of a value, and of a tensor's elements.
UINT32, FLOAT32, STRING = 4, 6, 8
SINGLE, HALF = 0, 1


def text(value):
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def setting(name, value):
    if isinstance(value, str):
        return text(name) + struct.pack("<I", STRING) + text(value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", FLOAT32, value)
    return text(name) + struct.pack("<II", UINT32, value)


SETTINGS = {
    "general.architecture": "llama",
    "general.name": "random",
    "llama.vocab_size": WORDS,
    "llama.context_length": 2048,
    "llama.embedding_length": WIDTH,
    "llama.block_count": LAYERS,
    "llama.feed_forward_length": HIDDEN,
    "llama.rope.dimension_count": WIDTH // HEADS,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "tokenizer.ggml.model": "no_vocab",
}


def shapes():
    """Each tensor's name and shape, the fastest dimension first. What has one dimension is in single precision."""
    yield "token_embd", (WIDTH, WORDS)
    for layer in range(LAYERS):
        for name, shape in {
            "attn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (WIDTH, WIDTH),
            "attn_v": (WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (WIDTH, HIDDEN),
            "ffn_up": (WIDTH, HIDDEN),
            "ffn_down": (HIDDEN, WIDTH),
        }.items():
            yield f"blk.{layer}.{name}", shape
    yield "output_norm", (WIDTH,)
    yield "output", (WIDTH, WORDS)


def tensor(shape):
    """The bytes of a tensor of this shape, and the type of its elements."""
    if len(shape) == 1:
        return struct.pack(f"<{shape[0]}f", *[1.0] * shape[0]), SINGLE
    count = shape[0] * shape[1]
    return struct.pack(f"<{count}e", *(random.gauss(0, 0.05) for _ in range(count))), HALF


def padding(length):
    return bytes(-length % ALIGNMENT)


def main(path):
    random.seed(1)
    places, data = b"", b""
    names = list(shapes())
    for name, shape in names:
        content, kind = tensor(shape)
        dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        places += text(name + ".weight") + dimensions + struct.pack("<IQ", kind, len(data))
        data += content + padding(len(content))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(names), len(SETTINGS))
    head += b"".join(setting(*one) for one in SETTINGS.items()) + places
    with open(path, "wb") as file:
        file.write(head + padding(len(head)) + data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
