// LangChain's chat model for OpenAI.

import assert from 'node:assert';
import {load, recorded, run, withServer} from './openai_testing.mjs';

const {ChatOpenAI} = load('@langchain/openai');

const makeModel = (baseURL, fields = {}) => new ChatOpenAI({
  model: 'demo', temperature: 0, apiKey: 'none', maxRetries: 0, configuration: {baseURL}, ...fields});

async function invokes(model) {
  const first = await model.invoke(recorded.messages);
  assert.strictEqual(first.content, recorded.greedy);
  assert.strictEqual(first.usage_metadata.input_tokens, recorded.prompt_tokens);
  const second = await model.invoke(recorded.messages);
  assert.strictEqual(second.usage_metadata.input_token_details.cache_read, recorded.prompt_tokens - 1);
}

async function streams(model) {
  let whole = null;
  for await (const chunk of await model.stream(recorded.messages)) whole = whole ? whole.concat(chunk) : chunk;
  assert.strictEqual(whole.content, recorded.greedy);
  assert.strictEqual(whole.usage_metadata.input_token_details.cache_read, recorded.prompt_tokens - 1);
}

async function cancels(model) {
  for await (const chunk of await model.stream(recorded.messages)) {
    if (chunk.content) break;
  }
  assert.strictEqual((await model.invoke(recorded.messages)).content, recorded.greedy);
}

// The demo model's chat template knows no tools: it is said, where a silent model would be waited for.
async function refusesTools(model) {
  const parameters = {type: 'object', properties: {city: {type: 'string'}}};
  const bound = model.bindTools([{type: 'function', function: {name: 'get_weather', description: 'd', parameters}}]);
  await assert.rejects(bound.invoke(recorded.messages), /takes no tools/);
}

run(() => withServer([], async (url) => {
  const baseURL = `${url}/v1`;
  const model = makeModel(baseURL);
  for (const test of [invokes, streams, cancels, refusesTools]) await test(model);
  await assert.rejects(makeModel(baseURL, {model: 'other'}).invoke('x'), /other/);
}));
