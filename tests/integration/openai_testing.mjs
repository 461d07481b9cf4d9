// What tests of the OpenAI-compatible API with clients in JavaScript share.
//
// Environment: HEADSTART_NODE_MODULES, a folder with the clients (without it, tests are skipped);
// HEADSTART_OPENAI_SERVER, a program that prints "serving <url>" and serves until its input ends.

import assert from 'node:assert';
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const SKIPPED = 77;  // ctest's SKIP_RETURN_CODE
const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

export function load(name) {
  const folder = process.env.HEADSTART_NODE_MODULES || '';
  try {
    return createRequire(path.join(folder, '..', 'none.js'))(name);
  } catch (error) {
    console.log(`skipped: set HEADSTART_NODE_MODULES to a folder that has ${name} (${error.code || error.message})`);
    process.exit(SKIPPED);
  }
}

// A question with the answer that the demo model gives when it is not left to chance, and the tokens of its prompt.
export const recorded = JSON.parse(
    fs.readFileSync(path.join(repository, 'gateway/demo/model/prompts.jsonl'), 'utf8').split('\n')[0]);

export async function withServer(args, test) {
  const server = spawn(process.env.HEADSTART_OPENAI_SERVER, args, {stdio: ['pipe', 'pipe', 'inherit']});
  const url = await new Promise((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`server ended with ${code}`)));
    server.stdout.once('data', (data) => resolve(/serving (\S+)/.exec(data)[1]));
  });
  server.removeAllListeners('exit');
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    await test(`${url}/v1`);
  } finally {
    server.stdin.end();
  }
  assert.strictEqual(await ended, 0);
}

export function run(main) {
  main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
  });
}
