// Writes the golden ids of the Hugging Face `tokenizers` library for corpus.json. See README.md for the commands.
//
//   node make_goldens.mjs reduce <library> <models>   reduced tokenizers, then ids for them and for variants.json
//   node make_goldens.mjs full <library> <models> <out>   whole tokenizers and ids for them, for HEADSTART_TOKENIZER_DIR
//
// <library> is the folder of the npm package @anush008/tokenizers; <models> has a folder with a tokenizer.json for each model.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [mode, library, models, out] = process.argv.slice(2);
const {Tokenizer} = createRequire(import.meta.url)(library);
const here = new URL('.', import.meta.url).pathname;
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const corpus = read(join(here, 'corpus.json'));
const toText = (entry) => (typeof entry === 'string' ? entry : Buffer.from(entry.hex, 'hex').toString('utf8'));
const load = (spec) => Tokenizer.fromString(JSON.stringify(spec));
const encode = async (tokenizer, text, add = true) => (await tokenizer.encode(text, null, {addSpecialTokens: add})).getIds();

// The tokens that the corpus uses and all that they are merged from, with ids closed up; added tokens as they are, less
// reserved ones.
async function reduce(full) {
  const {model} = full;
  const texts = new Map(Object.entries(model.vocab).map(([text, id]) => [id, text]));
  const parts = new Map();
  const pairs = model.merges.map((m) => (typeof m === 'string' ? m.split(' ') : m));
  for (const [left, right] of pairs) if (!parts.has(left + right)) parts.set(left + right, [left, right]);
  const keep = new Set();
  const add = (text) => {
    if (keep.has(text)) return;
    keep.add(text);
    for (const part of parts.get(text) ?? []) add(part);
  };
  const added = full.added_tokens.filter((t) => !/reserved/.test(t.content));
  const tokenizer = load(full);
  for (const entry of corpus) for (const id of await encode(tokenizer, toText(entry))) if (texts.has(id)) add(texts.get(id));
  for (const [id, text] of texts) if ([...text].length === 1 && id < 256) keep.add(text);
  for (const text of texts.values()) if (/^<0x..>$/.test(text)) keep.add(text);
  for (const token of added) if (token.content in model.vocab) keep.add(token.content);
  const vocab = {};
  for (const [, text] of [...texts].sort((a, b) => a[0] - b[0])) if (keep.has(text)) vocab[text] = Object.keys(vocab).length;
  const merges = pairs.filter(([a, b]) => keep.has(a) && keep.has(b) && keep.has(a + b));
  let next = Object.keys(vocab).length;
  const addedTokens = added.map((t) => ({...t, id: vocab[t.content] ?? next++}));
  const spaced = merges.some((m) => m.some((part) => part.includes(' ')));
  return {...full, added_tokens: addedTokens, model: {...model, vocab, merges: spaced ? merges : merges.map((m) => m.join(' '))}};
}

// A variant replaces whole top-level fields of its base, and single fields of `model`; `add` appends added tokens.
function vary(base, variant) {
  const spec = structuredClone(base);
  for (const [key, value] of Object.entries(variant.set ?? {})) {
    if (key === 'model') Object.assign(spec.model, value);
    else spec[key] = value;
  }
  spec.added_tokens.push(...(variant.add ?? []));
  return spec;
}

// The same tokenizer, to which the text of special tokens is text.
function withoutSpecial(spec, tokenizer) {
  const vocab = {...spec.model.vocab};
  for (const token of spec.added_tokens) vocab[token.content] = tokenizer.tokenToId(token.content);
  return {...spec, model: {...spec.model, vocab}, added_tokens: spec.added_tokens.filter((t) => !t.special)};
}

// Sequences of tokens that hardly follow from a text: code points cut off, bytes on their own.
function sequences(spec, tokenizer) {
  const ids = Object.values(spec.model.vocab).concat(spec.added_tokens.map((t) => tokenizer.tokenToId(t.content)));
  const isByte = new Set(Object.entries(spec.model.vocab).filter(([text]) => /^<0x..>$/.test(text)).map(([, id]) => id));
  let seed = 7;
  const below = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const list = [];
  for (let i = 0; i < 300; ++i) {
    const sequence = [];
    for (let n = 1 + below(12); n > 0; --n) {
      const id = ids[below(ids.length)];
      // Two neighbouring byte tokens may be half valid, where Headstart differs on purpose.
      if (!(isByte.has(id) && isByte.has(sequence.at(-1)))) sequence.push(id);
    }
    list.push(sequence);
  }
  return list;
}

async function goldens(spec, stride) {
  const tokenizer = load(spec);
  const plain = load(withoutSpecial(spec, tokenizer));
  const result = {stride, ids: [], plain: {}, decoded: {}, sequences: []};
  for (let i = 0; i < corpus.length; i += stride) {
    const text = toText(corpus[i]);
    const ids = await encode(tokenizer, text);
    result.ids.push(ids);
    const inner = await encode(tokenizer, text, false);
    const literal = await encode(plain, text, false);
    if (String(literal) !== String(inner)) result.plain[i] = literal;
    const decoded = await tokenizer.decode(ids, true);
    if (decoded !== text) result.decoded[i] = decoded;
  }
  for (const ids of sequences(spec, tokenizer)) {
    result.sequences.push([ids, await tokenizer.decode(ids, true), await tokenizer.decode(ids, false)]);
  }
  return result;
}

function write(path, value) {
  const lines = Object.entries(value).map(([key, v]) => {
    if (!Array.isArray(v)) return `${JSON.stringify(key)}: ${JSON.stringify(v)}`;
    return `${JSON.stringify(key)}: [\n${v.map((x) => JSON.stringify(x)).join(',\n')}\n]`;
  });
  writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`);
}

if (mode === 'full') {
  for (const name of ['qwen3', 'llama3', 'llama2']) {
    const text = readFileSync(join(models, name, 'tokenizer.json'), 'utf8');
    mkdirSync(join(out, name), {recursive: true});
    writeFileSync(join(out, name, 'tokenizer.json'), text);
    write(join(out, name, 'goldens.json'), await goldens(JSON.parse(text), 1));
  }
} else {
  const bases = {};
  for (const name of ['qwen3', 'llama2']) {
    bases[name] = await reduce(read(join(models, name, 'tokenizer.json')));
    writeFileSync(join(here, `${name}.tokenizer.json`), JSON.stringify(bases[name]) + '\n');
    write(join(here, `${name}.goldens.json`), await goldens(bases[name], 1));
  }
  for (const variant of read(join(here, 'variants.json'))) {
    const spec = vary(bases[variant.base], variant);
    try {
      write(join(here, 'variants', `${variant.name}.goldens.json`), await goldens(spec, variant.stride));
    } catch (error) {
      throw new Error(`${variant.name}: ${error}`);
    }
  }
}
