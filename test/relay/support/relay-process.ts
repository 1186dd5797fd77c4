import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { topologyYaml } from '../../../cli/test-support/topology-yaml.js';
import { ROOT } from '../../../docs/pages.js';
import type { ShardingTopology } from '../../../runtime/config/types.js';

/** `fw-gen relay` of the built package, which can be killed and started again. */
export class RelayProcess {
  readonly #config: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  /** @param relay `fw.relay`, in camelCase */
  constructor(topology: ShardingTopology, relay: object) {
    const { fw } = JSON.parse(topologyYaml(topology)) as { readonly fw: object };
    this.#folder = mkdtempSync(join(tmpdir(), 'fw-relay-'));
    this.#config = join(this.#folder, 'fw.config.yaml');
    writeFileSync(this.#config, JSON.stringify({ fw: { ...fw, relay } }));
  }

  /** Resolves once it sends. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'bin', 'fw-gen.js'), 'relay', '--config', this.#config],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        cwd: ROOT,
      },
    );
    this.#child = child;
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    const died = once(child, 'exit').then(() => Promise.reject(new Error(`the relay ended: ${complaint}`)));
    await Promise.race([once(child.stdout, 'data'), died]);
    died.catch(() => {});
  }

  /** `SIGKILL` ends it without any clean-up. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
