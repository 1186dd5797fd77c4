import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonValue, ShardIdentifier } from 'fw-actions';
import { fixedPrincipal, type RunningServer } from 'fw-actions/http';
import type { AdapterName } from '../databases/databases.js';
import type { ServerAddress } from '../databases/server.js';
import { cloneDatabase, dropDatabase } from '../databases/template.js';
import { ApiContract } from '../http/api-contract.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface GoldenServerOptions {
  /** Name of the golden case. */
  readonly name: string;
  readonly adapter: AdapterName;
  readonly address: ServerAddress;
  readonly collaborators?: object;
}

/** An answer that the OpenAPI document allows. */
export interface Answer {
  readonly status: number;
  readonly body: JsonValue;
}

/** The application of a golden case, served from a copy of its input and its expected output, on one empty database. */
export class GoldenServer {
  readonly folder: string;
  readonly #server: RunningServer;
  readonly #contract: ApiContract;
  readonly #release: () => Promise<void>;

  private constructor(
    folder: string,
    server: RunningServer,
    contract: ApiContract,
    release: () => Promise<void>,
  ) {
    this.folder = folder;
    this.#server = server;
    this.#contract = contract;
    this.#release = release;
  }

  static async start({ name, adapter, address, collaborators }: GoldenServerOptions): Promise<GoldenServer> {
    const folder = copyOf(name);
    const database = adapter === 'pglite' ? embedded(name) : await emptyDatabase(address);
    const config = join(folder, 'fw.config.yaml');
    writeFileSync(config, configuration(name, database.source));
    const { startServer } = (await import(join(folder, 'generated/server.ts'))) as {
      readonly startServer: (options: object) => Promise<RunningServer>;
    };
    const server = await startServer({
      authenticator: fixedPrincipal('tester'),
      argv: ['--config', config, '--port', '0'],
      collaborators,
    });
    const release = async (): Promise<void> => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    };
    return new GoldenServer(folder, server, await ApiContract.of(server.url), release);
  }

  get application(): RunningServer['application'] {
    return this.#server.application;
  }

  /** The violations of the schema with this name in a value. */
  violations(schema: string, value: JsonValue): readonly string[] {
    return this.#contract.violations(schema, JSON.stringify(value));
  }

  /** @throws Error if the document does not allow the answer */
  async call(method: string, target: string, body?: JsonValue): Promise<Answer> {
    const response = await fetch(this.#server.url + target, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const { status, headers } = response;
    const text = await response.text();
    const violations = this.#contract.check({ method, target, status, headers, text });
    if (violations.length > 0)
      throw new Error(`${method} ${target} ${status}: ${violations.join(', ')}\n${text}`);
    return { status, body: JSON.parse(text) };
  }

  async close(): Promise<void> {
    await this.#server.close();
    await this.#release();
  }
}

function copyOf(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fw-types-'));
  for (const part of ['input', 'expected']) {
    cpSync(join(ROOT, 'generator/golden', name, part), folder, { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "experimentalDecorators": true } }');
  return folder;
}

/** The database of the only shard. */
interface Database {
  readonly source: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

function embedded(name: string): Database {
  return { source: { 'jdbc-url': `jdbc:pglite:mem:${name}` }, drop: async () => {} };
}

async function emptyDatabase(address: ServerAddress): Promise<Database> {
  const { host, port, user, password } = address;
  const name = `fw_test_types_${randomBytes(6).toString('hex')}`;
  await cloneDatabase(address, name, ShardIdentifier.of(0, 0), undefined);
  return {
    source: { 'jdbc-url': `jdbc:postgresql://${host}:${port}/${name}`, username: user, password },
    drop: () => dropDatabase(address, name),
  };
}

/** JSON is YAML. */
function configuration(name: string, source: Database['source']): string {
  const members = [{ member: 0, name: 'only', configs: { 'primary-config': source } }];
  const sharding = {
    'default-shard': { group: 0, member: 0 },
    groups: [{ group: 0, name: 'all', members }],
  };
  return JSON.stringify({ fw: { namespace: name, sharding } });
}
