import { spawn } from 'node:child_process';
import { cpuSeconds } from './proc.js';

const START_TIMEOUT_MS = 30_000;

/** A server in its own process, which prints `listening on http://host:port`. */
export class ServerProcess {
  #child;
  url;

  constructor(child, url) {
    this.#child = child;
    this.url = new URL(url);
  }

  /** @param imported a module that the process loads first */
  static async start(file, args, imported) {
    const first = imported === undefined ? [] : ['--import', imported];
    const child = spawn(process.execPath, [...first, file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new ServerProcess(child, await listening(child, file));
  }

  cpuSeconds() {
    return cpuSeconds(this.#child.pid);
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    this.#child.kill('SIGTERM');
    await gone;
    clearTimeout(timer);
  }
}

function listening(child, file) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS);
    const fail = (reason) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${file} ${reason}\n${text}`));
    };
    child.once('exit', (code) => fail(`ended (${code})`));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const url = /listening on (http:\S+)/.exec(text)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve(url);
    });
  });
}
