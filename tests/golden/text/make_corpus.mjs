// Writes corpus.json: the strings that every tokenizer's golden ids are for. Deterministic.
// An entry is a string, or {"hex": ...} for bytes that are not UTF-8.
import {writeFileSync} from 'node:fs';

// mulberry32: small, seeded, good enough to mix fragments.
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const next = random(20261129);
const below = (n) => Math.floor(next() * n);
const pick = (list) => list[below(list.length)];

const WRITTEN = [
  'Hello, world!', 'Hello', ' Hello', '  Hello', 'hello world  ', 'The quick brown fox jumps over the lazy dog.',
  "I'm you're he's we'll they'd I've can't DON'T I'LL YOU'RE IT'S", "'s't're", "x'ſ y'ſs 'ſ", "K's \u212A's",
  '1', '12', '123', '1234', '12345678901234567890', '3.14159', '1,000,000', '0x1F', '1e-9', '²³¹ ½ Ⅻ ٣٤٥ १२३ 一二三 ①②',
  'a1b2c3', 'v1.2.3-rc4', '2026-11-29T18:00:00Z', '100%', '$5.00', '€20', '#include <vector>', 'C++20', 'std::vector<int>',
  'int main() {\n  return 0;\n}\n', 'def f(x):\n\treturn x ** 2\n', 'for (int i = 0; i < n; ++i) { sum += a[i]; }',
  'SELECT * FROM t WHERE a = "b" AND c <> 1;', 'if err != nil {\n\t\treturn nil, err\n\t}', '{"key": [1, 2, {"a": null}]}',
  '<div class="x">a &amp; b</div>', 'https://example.org/a?b=c&d=%20e#f', 'foo_bar fooBar FooBar FOO_BAR foo-bar',
  '// comment\n/* another */', '\\n \\t \\\\', '```python\nprint("hi")\n```', 'a\tb\tc', '\t\t\tindent', '    four', '     five',
  'trailing   ', '\n', '\n\n', '\n\n\n', ' \n ', '\r\n', '\r\n\r\n', 'a\r\nb', ' \t \n \t ', 'a \n b', '\u00a0', 'a\u00a0b',
  '\u3000全角', 'a\u2003b\u2009c', '\u180e x', 'a\u180eb', '\u200b\u200c\u200d', '\ufeffBOM', 'a\u0085b', 'a\u2028b\u2029c', '\u001c\u001f',
  '\u0000', 'a\u0000b', '\u0001\u0002\u0003', '\u007f', '你好，世界！', '今天天气很好。', '日本語のテキスト', 'カタカナ ひらがな', '한국어 문장입니다.',
  '東京都渋谷区', '中文English混合123', 'ㄱㄴㄷ', '각', 'Привет, мир!', 'Ελληνικά', 'שלום עולם', 'مرحبا بالعالم',
  '\u202bמימין\u202c', 'नमस्ते दुनिया', 'ภาษาไทย', 'Tiếng Việt', 'Türkçe İstanbul ıI', 'Straße GROẞ', 'ﬁ ﬂ ﬀ ﬆ', 'ǅ ǈ',
  'é', 'e\u0301', 'Å Å A\u030a', 'ṩ s\u0323\u0307 s\u0307\u0323', 'q\u0307\u0323', '\u0301', ' \u0301x', 'a\u0301\u0302\u0303\u0304',
  'Z\u0351\u036b\u0343a\u0363l\u0368g\u033do\u0349', '각 ᄀ\u1161\u11a8', '\u0958 क\u093c', '\u2126 \u212b \u1fef', '豈 更',
  '😀', '😀😁😂', '👨‍👩‍👧‍👦', '👩🏽‍💻', '🏳️‍🌈', '🇩🇪🇫🇷', '1️⃣', '❤️', '☺', '🫨🪿', 'a😀b', ' 😀', '😀 ', '\u{1FAE8}\u{1FADF}',
  '𝒳𝓎𝔷', '𠀀𠀁', '\u{31350}\u{323AF}x', '\u{2EBF0}', '\u{1E030}', '\u{11F04}\u{11F50}', '\u{10FFFF}', '\uE000', '\uFFFD', '\uFFFE',
  '<|endoftext|>', '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n', '<|im_start|>', '<|im_start', '|im_end|>', '<|im_<|im_end|>',
  '<think>\nhm\n</think>\n\nYes', '<tool_call>\n{"name": "f"}\n</tool_call>', 'a<think>b', '<|box_start|>(1,2)<|box_end|>',
  '<s>', '</s>', '<s>[INST] hi [/INST]', '<unk>', 'a</s>b', ' <s> ', '<s><s></s>', '<s', '<0x41>', '<0x0A>', '<0xE2><0x96><0x81>', '<pad>',
  '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>', '<|eot_id|>', '<|begin_of_text|>', '<|END|>', '<|im_end|><|im_end|>',
  '[MASK]', 'x [MASK]  y', '\u2581', '\u2581a', ' \u2581 a', 'a\u2581\u2581b', 'Ġ', 'ĠHello', 'Ċ', 'Ā', '"quoted" \'single\' “curly” ‘x’ «y»',
  '...', '…', '?!?!', '---', '___', '***', '=====', '->', '=>', '!=', '::', '()', '[]', '{}', '();', '});', '#####', 'a-b—c–d', '/usr/bin/env',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'abababababababababababababababababababababab',
  ' '.repeat(70), '\n'.repeat(20), 'é'.repeat(30), '的'.repeat(60), '=-'.repeat(40), ' a'.repeat(30), 'supercalifragilisticexpialidocious',
  'antidisestablishmentarianism', 'pneumonoultramicroscopicsilicovolcanoconiosis', 'Donaudampfschifffahrtsgesellschaft', 'xqzjkvbw',
];

const WORDS = ('the of and to in is that for it was on are as with his they at be this from have or by one had not but what all were when we there can ' +
  'an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could ' +
  'no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know ' +
  'function return value string number array object class public static void import export default const model token prefix cache block engine server ' +
  'Paris London Berlin Monday January Alice Bob Python JavaScript Kubernetes TensorFlow').split(' ');
const ACCENTED = ['café', 'cafe\u0301', 'naïve', 'über', 'niño', 'façade', 'Zürich', 'smörgåsbord', 'Łódź', 'Příliš', 'žluťoučký', 'θάλασσα', 'Москва', 'слово', 'ёлка', 'е\u0308лка'];
const ASIAN = ['你好', '世界', '学习', '机器', '模型', '我们', '日本', '東京', 'です', 'ありがとう', 'テスト', '안녕', '세계', '감사', '，', '。', '！', '「', '」', '、'];
const OTHER = ['שלום', 'مرحبا', 'नमस्ते', 'สวัสดี', 'ไทย', 'தமிழ்', 'ქართული', 'հայերեն', 'አማርኛ', 'বাংলা', 'ভাষা', '\u202e', '\u200f'];
const EMOJI = ['😀', '🎉', '👍🏽', '👨‍👩‍👧', '🏳️‍🌈', '❤️', '🚀', '🇯🇵', '🤷‍♀️', '✨', '☕', '🧑‍🚀', '\ufe0f', '\u200d'];
const SPACES = [' ', ' ', ' ', '  ', '   ', '\n', '\n\n', '\t', '\r\n', ' \n', '\n ', '    ', '\u00a0', '\u3000', '        ', '\u2009'];
const MARKS = ['.', ',', '!', '?', ';', ':', '-', '--', '—', '(', ')', '[', ']', '{', '}', '"', "'", '/', '\\', '*', '&', '%', '$', '#', '@', '+', '=', '<', '>',
  '|', '~', '^', '_', '`', '...', '=>', '==', '();', '\u0301', '\u0308', "'s", "'t", "'re", "'LL", "n't", '’s'];
const SPECIALS = ['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<think>', '</think>', '<tool_call>', '<s>', '</s>', '<unk>', '<|eot_id|>', '<|begin_of_text|>',
  '<|im_', '_start|>', '<|', '|>', '<0x0A>', '[MASK]', '<mask>', '<sep>'];

const number = () => String(below(10 ** (1 + below(9))));
const code = () => pick([`x${below(9)} = f(${pick(WORDS)})`, `${pick(WORDS)}_${pick(WORDS)}[${below(99)}]`, `if (${pick(WORDS)} >= ${below(9)}) {`,
  `    self.${pick(WORDS)} = None\n`, `#${below(9999)}`, `"${pick(WORDS)}": ${number()},`, `\t\treturn ${pick(WORDS)};\n`, `${pick(WORDS)}::${pick(WORDS)}<T>&`,
  `0x${below(65536).toString(16)}`, `@${pick(WORDS)}.${pick(WORDS)}`]);
const codePoint = () => {
  const ranges = [[0x20, 0x7e], [0xa0, 0x24f], [0x300, 0x36f], [0x370, 0x52f], [0x590, 0x6ff], [0x900, 0xdff], [0xe00, 0xeff], [0x1100, 0x11ff], [0x1e00, 0x1fff],
    [0x2000, 0x206f], [0x2070, 0x218f], [0x2190, 0x2bff], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfb00, 0xfdff], [0xfe00, 0xfe6f],
    [0xff00, 0xffef], [0x1d400, 0x1d7ff], [0x1f300, 0x1faff], [0x20000, 0x323af], [0xe0000, 0xe01ef]];
  const [first, last] = pick(ranges);
  return String.fromCodePoint(first + below(last - first + 1));
};
const word = () => { const w = pick(WORDS); return next() < 0.15 ? w.toUpperCase() : next() < 0.2 ? w[0].toUpperCase() + w.slice(1) : w; };

const POOLS = [
  [word, () => pick(SPACES), () => pick(MARKS)], [word, () => ' ', word, () => ' ', number], [code, () => pick(SPACES)],
  [() => pick(ASIAN), () => pick(ASIAN), () => pick(MARKS), word], [() => pick(ACCENTED), () => pick(SPACES), () => pick(MARKS)],
  [() => pick(OTHER), () => pick(SPACES), number], [() => pick(EMOJI), () => pick(EMOJI), () => pick(SPACES), word],
  [() => pick(SPACES), () => pick(SPACES), word], [number, () => pick(MARKS), number], [codePoint], [codePoint, () => pick(SPACES)],
  [() => pick(SPECIALS), word, () => pick(SPACES), () => pick(SPECIALS)],
  [word, () => pick(SPACES), () => pick(MARKS), number, code, () => pick(ASIAN), () => pick(ACCENTED), () => pick(OTHER), () => pick(EMOJI), codePoint, () => pick(SPECIALS)],
];
const mixed = () => { const pool = pick(POOLS); let s = ''; for (let n = 2 + below(9); n > 0; --n) s += pick(pool)(); return s; };

const bytes = () => {
  const text = Buffer.from(mixed());
  const at = below(text.length + 1);
  const junk = pick([[0xff], [0xc3], [0x80], [0xe2, 0x96], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x28, 0xa1], [0xf0, 0x28, 0x8c, 0xbc],
    [0xf8, 0x88, 0x80, 0x80, 0x80], [0xe1, 0x80, 0xe2, 0xf0, 0x91, 0x92, 0xf1, 0xbf, 0x41]]);
  return {hex: Buffer.concat([text.subarray(0, at), Buffer.from(junk), text.subarray(at)]).toString('hex')};
};

const corpus = [...WRITTEN];
while (corpus.length < 1950) corpus.push(mixed());
while (corpus.length < 2100) corpus.push(bytes());
writeFileSync(new URL('corpus.json', import.meta.url), '[\n' + corpus.map((x) => JSON.stringify(x)).join(',\n') + '\n]\n');
