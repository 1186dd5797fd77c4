import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../runtime/events/test-support/ledger.js';
import { type Broker, type KafkaJars, ProcessBroker } from './brokers.js';

/** A worker of Kafka Connect with the Debezium connector, set up according to the guide of `fw-gen connectors`. */
export class ConnectWorker {
  readonly #url: string;
  readonly #process: Broker;

  constructor(jars: KafkaJars, { kafkaPort, port, password }: ConnectOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'fw-connect-'));
    const properties = join(folder, 'worker.properties');
    writeFileSync(properties, workerProperties(jars, kafkaPort, port));
    const args = [
      '-Xmx512m',
      '-cp',
      jars.classPath,
      'org.apache.kafka.connect.cli.ConnectDistributed',
      properties,
    ];
    const env = { ...process.env, FW_DEBEZIUM_PASSWORD: password };
    this.#url = `http://127.0.0.1:${port}`;
    this.#process = new ProcessBroker(port, folder, () => spawn('java', args, { stdio: 'ignore', env }));
  }

  async start(): Promise<void> {
    await this.#process.start();
    await until(async () => (await this.#get('/connectors'))?.status === 200, 120_000);
  }

  /** SIGKILL. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  remove(): Promise<void> {
    return this.#process.remove();
  }

  /** @param connector the text of a file of `fw-gen connectors` */
  async create(connector: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.#url}/connectors`, { method: 'POST', headers, body: connector });
    if (!response.ok) throw new Error(`Kafka Connect answers ${response.status}: ${await response.text()}`);
  }

  /** Resolves once its only task runs. @throws Error with the reason why a task failed */
  async runs(name: string): Promise<void> {
    await until(async () => {
      const response = await this.#get(`/connectors/${name}/status`);
      if (response?.status !== 200) return false;
      const { tasks } = (await response.json()) as { tasks: readonly { state: string; trace?: string }[] };
      const failed = tasks.find(({ state }) => state === 'FAILED');
      if (failed !== undefined) throw new Error(failed.trace);
      return tasks[0]?.state === 'RUNNING';
    }, 120_000);
  }

  #get(path: string): Promise<Response | undefined> {
    return fetch(`${this.#url}${path}`).catch(() => undefined);
  }
}

export interface ConnectOptions {
  readonly kafkaPort: number;
  readonly port: number;
  readonly password: string;
}

function workerProperties({ plugins }: KafkaJars, kafkaPort: number, port: number): string {
  const topics = ['config', 'offset', 'status'].map(
    (name) => `${name}.storage.topic=connect-${name}\n${name}.storage.replication.factor=1`,
  );
  return `bootstrap.servers=127.0.0.1:${kafkaPort}
group.id=connect
listeners=http://127.0.0.1:${port}
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
${topics.join('\n')}
offset.flush.interval.ms=2000
plugin.path=${plugins}
config.providers=env
config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
`;
}
