// Vercel's AI SDK with its provider for OpenAI-compatible servers.

import assert from 'node:assert';
import {load, recorded, run, withServer} from './openai_testing.mjs';

const {generateText, streamText} = load('ai');
const {createOpenAICompatible} = load('@ai-sdk/openai-compatible');

// The SDK takes system prompts by themselves.
const ask = {
  system: recorded.messages.filter(({role}) => role === 'system').map(({content}) => content).join('\n') || undefined,
  messages: recorded.messages.filter(({role}) => role !== 'system'),
  temperature: 0,
  maxRetries: 0,
};

const cachedOf = (usage) => usage.inputTokenDetails?.cacheReadTokens ?? usage.cachedInputTokens;

async function generates(model) {
  const first = await generateText({...ask, model});
  assert.strictEqual(first.text, recorded.greedy);
  assert.strictEqual(first.usage.inputTokens, recorded.prompt_tokens);
  const second = await generateText({...ask, model});
  assert.strictEqual(cachedOf(second.usage), recorded.prompt_tokens - 1);
}

async function streams(model) {
  const result = streamText({...ask, model});
  let text = '';
  for await (const piece of result.textStream) text += piece;
  assert.strictEqual(text, recorded.greedy);
  assert.strictEqual(cachedOf(await result.usage), recorded.prompt_tokens - 1);
}

async function cancels(model) {
  const abort = new AbortController();
  const result = streamText({...ask, model, abortSignal: abort.signal, onError: () => {}});
  for await (const piece of result.fullStream) {
    if (piece.type === 'text-delta') abort.abort();
  }
  assert.strictEqual((await generateText({...ask, model})).text, recorded.greedy);
}

async function refuses(provider) {
  await assert.rejects(generateText({...ask, model: provider('other')}), (error) => {
    assert.strictEqual(error.statusCode, 404);
    assert.match(error.message, /other/);
    return true;
  });
}

run(() => withServer([], async (url) => {
  const baseURL = `${url}/v1`;
  const provider = createOpenAICompatible({name: 'headstart', baseURL, includeUsage: true});
  for (const test of [generates, streams, cancels]) await test(provider('demo'));
  await refuses(provider);
}));
