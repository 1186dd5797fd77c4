import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpuSeconds } from '../lib/proc.js';

const START_TIMEOUT_MS = 30_000;

/** A server process under overload: counts its log lines and watches its memory. */
export class WatchedServer {
  #child;
  #logBytes = 0;
  #logTail = '';
  url;

  /** @param flags of Node */
  static async start(file, args, flags = []) {
    const server = new WatchedServer();
    const child = spawn(process.execPath, [...flags, file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    server.#child = child;
    child.stderr.on('data', (chunk) => {
      server.#logBytes += chunk.length;
      server.#logTail = chunk.toString().slice(-2_000);
    });
    server.url = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${file} did not start`)), START_TIMEOUT_MS);
      child.once('exit', (code) => reject(new Error(`${file} ended (${code})\n${server.#logTail}`)));
      child.stdout.on('data', (chunk) => {
        const url = /listening on (http:\S+)/.exec(chunk)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(new URL(url));
      });
    });
    return server;
  }

  get logBytes() {
    return this.#logBytes;
  }

  get logTail() {
    return this.#logTail;
  }

  cpuSeconds() {
    return cpuSeconds(this.#child.pid);
  }

  /** Maximum resident memory since the start, in MiB. */
  peakMemory() {
    const text = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1_024;
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
