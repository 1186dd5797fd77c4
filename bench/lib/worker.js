import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withBuild } from './product.js';

const MAIN = fileURLToPath(new URL('./worker-main.js', import.meta.url));
const CLOSE_TIMEOUT_MS = 5_000;

/** The parent's side of a process that runs one variant. */
export class Worker {
  #child;
  #waiting;

  constructor(child) {
    this.#child = child;
    child.on('message', (message) => this.#receive(message));
    child.on('exit', (code) =>
      this.#waiting?.reject(new Error(`The process of this variant ended (${code})`)),
    );
  }

  /**
   * Starts the process and waits until the variant is open. `build` is the product's folder; default: this process's.
   */
  static async start(module, options, build) {
    const worker = new Worker(
      fork(MAIN, [JSON.stringify({ module, options })], {
        execArgv: ['--expose-gc'],
        env: withBuild(build),
      }),
    );
    await worker.#answer();
    return worker;
  }

  /** Runs one slice. `cpu` is the difference of `server.cpuSeconds()` between the window's edges. */
  async run(load, server) {
    const cpu = {};
    const answer = this.#answer((edge) => {
      cpu[edge] = server?.cpuSeconds();
    });
    this.#child.send(load);
    const { result } = await answer;
    return { ...result, cpu };
  }

  /** Calls another function of the variant than `deposit` and `close`. */
  async ask(name) {
    const answer = this.#answer();
    this.#child.send({ ask: name });
    return (await answer).result;
  }

  async close() {
    if (this.#child.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
    if (this.#child.connected) this.#child.send('close');
    await gone;
    clearTimeout(timer);
  }

  #answer(onEdge) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, onEdge };
    });
  }

  #receive(message) {
    if (message.edge === undefined) this.#waiting?.resolve(message);
    else this.#waiting?.onEdge?.(message.edge);
  }
}
