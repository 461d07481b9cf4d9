"""Writes the tokenizer of a GGUF file, and what llama.cpp's server encodes with it, as one JSON file.

    python3 read_gguf_vocabulary.py stories260K.gguf stories260K_greedy.json > stories260k.json
"""
import json
import struct
import sys

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def string(self):
        size = self.take("<Q")
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            item = self.take("<I")
            return [self.value(item) for _ in range(self.take("<Q"))]
        return self.take(SCALARS[kind])


def metadata(path):
    with open(path, "rb") as file:
        reader = Reader(file.read())
    assert reader.take("<I") == 0x46554747
    reader.at += 12
    return {reader.string(): reader.value(reader.take("<I")) for _ in range(reader.take("<Q"))}


fields = {k.removeprefix("tokenizer.ggml."): v for k, v in metadata(sys.argv[1]).items() if k.startswith("tokenizer.ggml.")}
with open(sys.argv[2]) as file:
    cases = [{"prompt": c["prompt"], "ids": c["prompt_ids"]} for c in json.load(file)["cases"]]
json.dump({**fields, "cases": cases}, sys.stdout, ensure_ascii=False)
print()
