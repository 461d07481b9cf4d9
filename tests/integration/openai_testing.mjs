// What tests over HTTP in JavaScript share: the real program as a process.
//
// Environment: HEADSTART_BINARY, the program; HEADSTART_NODE_MODULES, a folder with the clients (without it, tests are
// skipped).

import assert from 'node:assert';
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const SKIPPED = 77;  // ctest's SKIP_RETURN_CODE
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

// Runs `test` with the URL of a server that was started with these arguments, and ends the server.
export async function withServer(args, test) {
  const server = spawn(process.env.HEADSTART_BINARY,
                       ['serve', '--listen', '127.0.0.1:0', '--http-listen', '127.0.0.1:0', ...args],
                       {stdio: ['ignore', 'pipe', 'ignore']});
  const url = await new Promise((resolve, reject) => {
    let said = '';
    server.on('exit', (code) => reject(new Error(`server ended with ${code}`)));
    server.stdout.on('data', (data) => {
      said += data;
      const found = /dashboard: (\S+)\//.exec(said);
      if (found) resolve(found[1]);
    });
  });
  server.removeAllListeners('exit');
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    await test(url);
  } finally {
    server.kill('SIGTERM');
  }
  assert.strictEqual(await ended, 0);
}

// The same with keys: `test` also gets a user's and an operator's key.
export async function withKeys(args, test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'headstart-keys-'));
  const file = path.join(folder, 'keys.yaml');
  const create = (...more) => execFileSync(process.env.HEADSTART_BINARY, ['key', 'create', '--file', file, ...more],
                                           {encoding: 'utf8'}).match(/hsk_\w+/)[0];
  try {
    const user = create('--id', 'backend', '--tenant', 'acme');
    const operator = create('--id', 'ops', '--tenant', 'platform', '--role', 'operator');
    await withServer(['--keys', file, ...args], (url) => test(url, {user, operator}));
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
}

export function run(main) {
  main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
  });
}
