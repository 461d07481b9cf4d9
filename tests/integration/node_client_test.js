// A client in another language, made from the .proto files by @grpc/proto-loader: streams an answer twice and reads its usage.
// Needs HEADSTART_NODE_MODULES: a folder with @grpc/grpc-js and @grpc/proto-loader. Without it, skipped.

'use strict';

const {spawn} = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const assert = require('node:assert');

const SKIPPED = 77;  // ctest's SKIP_RETURN_CODE
const repository = path.resolve(__dirname, '..', '..');

function load(name) {
  try {
    return require(path.join(process.env.HEADSTART_NODE_MODULES || '', name));
  } catch (error) {
    console.log(`skipped: set HEADSTART_NODE_MODULES to a folder that has ${name}`);
    process.exit(SKIPPED);
  }
}

const grpc = load('@grpc/grpc-js');
const protoLoader = load('@grpc/proto-loader');

function startServer() {
  const server = spawn(process.env.HEADSTART_BINARY, ['serve', '--listen', '127.0.0.1:0', '--http-listen', '127.0.0.1:0'], {stdio: ['ignore', 'pipe', 'ignore']});
  return new Promise((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`server ended with ${code}`)));
    server.stdout.once('data', (data) => resolve({server, address: /serving \S+ at (\S+)/.exec(data)[1]}));
  });
}

function generate(client, request) {
  return new Promise((resolve, reject) => {
    const events = [];
    client.Generate(request).on('data', (event) => events.push(event)).on('error', reject).on('end', () => resolve(events));
  });
}

async function main() {
  const definition = protoLoader.loadSync('headstart/v1/inference.proto', {
    includeDirs: [path.join(repository, 'proto')], keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true});
  const {InferenceService} = grpc.loadPackageDefinition(definition).headstart.v1;
  const recorded = JSON.parse(
      fs.readFileSync(path.join(repository, 'gateway/demo/model/prompts.jsonl'), 'utf8').split('\n')[0]);
  const request = {input: {chat: {messages: recorded.messages}}, sampling: {temperature: 0}};
  const {server, address} = await startServer();
  server.removeAllListeners('exit');
  const client = new InferenceService(address, grpc.credentials.createInsecure());
  try {
    for (const cached of [0, recorded.prompt_tokens - 1]) {
      const events = await generate(client, request);
      assert.strictEqual(events[0].event, 'started');
      assert.strictEqual(events.map((event) => event.delta ? event.delta.text : '').join(''), recorded.greedy);
      const {usage, reason} = events[events.length - 1].finished;
      assert.strictEqual(reason, 'FINISH_REASON_STOP');
      assert.strictEqual(usage.cached_tokens, cached);
      assert.strictEqual(usage.prompt_tokens, recorded.prompt_tokens);
    }
    await assert.rejects(generate(client, {...request, max_tokens: 0}), {code: grpc.status.INVALID_ARGUMENT});
  } finally {
    client.close();
    server.kill('SIGTERM');
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
