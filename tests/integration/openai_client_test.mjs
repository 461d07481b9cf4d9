// OpenAI's own client for JavaScript: whole answers, streams, cancelling, cached tokens, errors.

import assert from 'node:assert';
import {load, recorded, run, withKeys, withServer} from './openai_testing.mjs';

const OpenAI = load('openai').default;
const ask = {model: 'demo', messages: recorded.messages, temperature: 0};

async function answers(client) {
  const first = await client.chat.completions.create(ask);
  assert.strictEqual(first.choices[0].message.content, recorded.greedy);
  assert.strictEqual(first.choices[0].finish_reason, 'stop');
  assert.strictEqual(first.usage.prompt_tokens, recorded.prompt_tokens);
  assert.strictEqual(first.usage.prompt_tokens_details.cached_tokens, 0);
  const {data, response} = await client.chat.completions.create(ask).withResponse();
  assert.strictEqual(data.usage.prompt_tokens_details.cached_tokens, recorded.prompt_tokens - 1);
  assert.strictEqual(response.headers.get('x-headstart-cached-tokens'), String(recorded.prompt_tokens - 1));
  assert.ok(data._request_id);
}

async function streams(client) {
  const stream = await client.chat.completions.create({...ask, stream: true, stream_options: {include_usage: true}});
  let text = '';
  let usage = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content || '';
    usage = chunk.usage || usage;
  }
  assert.strictEqual(text, recorded.greedy);
  assert.strictEqual(usage.prompt_tokens_details.cached_tokens, recorded.prompt_tokens - 1);
  const runner = client.chat.completions.stream(ask);
  assert.strictEqual((await runner.finalMessage()).content, recorded.greedy);
}

async function completes(client) {
  const answer = await client.completions.create({model: 'demo', prompt: 'Where is the red lamp?', max_tokens: 4, n: 2});
  assert.strictEqual(answer.choices.length, 2);
  assert.ok(answer.usage.completion_tokens <= 8);
}

// A long answer is left in its midst; the server goes on serving.
async function cancels(client) {
  const stream = await client.chat.completions.create({...ask, ignore_eos: true, stream: true});
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta?.content) break;  // closes the connection
  }
  const abort = new AbortController();
  const whole = client.chat.completions.create({...ask, ignore_eos: true}, {signal: abort.signal});
  setImmediate(() => abort.abort());
  await assert.rejects(whole, OpenAI.APIUserAbortError);
  assert.strictEqual((await client.models.list()).data[0].id, 'demo');
}

async function refuses(client) {
  await assert.rejects(client.chat.completions.create({...ask, max_tokens: 0}), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.strictEqual(error.param, 'max_tokens');
    return true;
  });
  await assert.rejects(client.chat.completions.create({...ask, model: 'other'}), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.strictEqual(error.code, 'model_not_found');
    return true;
  });
  const long = {...ask, messages: [{role: 'user', content: 'lamp '.repeat(20000)}]};
  await assert.rejects(client.chat.completions.create(long), {code: 'context_length_exceeded'});
}

async function checksKeys(url, {user}) {
  const baseURL = `${url}/v1`;
  const wrong = new OpenAI({baseURL, apiKey: 'wrong', maxRetries: 0});
  await assert.rejects(wrong.models.list(), OpenAI.AuthenticationError);
  const right = new OpenAI({baseURL, apiKey: user, maxRetries: 0});
  assert.strictEqual((await right.models.retrieve('demo')).id, 'demo');
}

run(async () => {
  await withServer([], async (url) => {
    const baseURL = `${url}/v1`;
    const client = new OpenAI({baseURL, apiKey: 'none', maxRetries: 0});
    for (const test of [answers, streams, completes, cancels, refuses]) await test(client);
  });
  await withKeys([], checksKeys);
});
