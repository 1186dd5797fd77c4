import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../../docs/pages.js';

/** A broker of this machine, which can be killed and started again with its data. */
export interface Broker {
  readonly port: number;
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  remove(): Promise<void>;
}

/** The program of NATS: Debian has it as `nats-server`. Undefined: it is missing. */
export function natsServer(): string | undefined {
  const named = process.env['FW_NATS_SERVER'];
  const candidates = named === undefined ? ['/usr/sbin/nats-server', '/usr/bin/nats-server'] : [named];
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined)
    console.warn(
      `NATS is not run: ${candidates.join(' and ')} are missing. Install the Debian package nats-server, or name the program in FW_NATS_SERVER`,
    );
  return found;
}

export function natsBroker(program: string, port: number): Broker {
  const folder = mkdtempSync(join(tmpdir(), 'fw-nats-'));
  const args = ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', folder];
  return new ProcessBroker(port, folder, () => spawn(program, args, { stdio: 'ignore' }));
}

const KAFKA_VERSION = '4.0.0';
const DEBEZIUM_VERSION = '3.2.3.Final';

/** Jars that Maven has downloaded. */
export interface KafkaJars {
  /** Class path of the broker, its tools and Kafka Connect. */
  readonly classPath: string;
  /** Folder of connectors for Kafka Connect. */
  readonly plugins: string;
}

/** For a machine without them, where tests are skipped. */
export const NO_JARS: KafkaJars = { classPath: '', plugins: '' };

/**
 * Kafka, Kafka Connect and Debezium: in the folder `FW_KAFKA_JARS`, into which Maven downloads them the first time.
 * Undefined: Java or Maven is missing.
 */
export function kafkaJars(): KafkaJars | undefined {
  const folder =
    process.env['FW_KAFKA_JARS'] ??
    join(ROOT, 'node_modules', '.cache', `kafka-${KAFKA_VERSION}-debezium-${DEBEZIUM_VERSION}`);
  const [jars, plugins] = [join(folder, 'lib'), join(folder, 'plugins')];
  const found = { classPath: join(jars, '*'), plugins };
  if (isFilled(folder)) return found;
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    mkdirSync(plugins, { recursive: true });
    rmSync(join(folder, 'complete'), { force: true });
    writeFileSync(join(folder, 'pom.xml'), pom());
    const args = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
    const env = { ...process.env, MAVEN_OPTS: '-Xmx384m' };
    execFileSync('mvn', args, { cwd: folder, stdio: 'inherit', env });
    const plugin = join(jars, `debezium-connector-postgres-${DEBEZIUM_VERSION}-plugin.tar.gz`);
    execFileSync('tar', ['-xzf', plugin, '-C', plugins]);
    writeFileSync(join(folder, 'complete'), '');
    return found;
  } catch (error) {
    console.warn(
      `Kafka is not run: Java 17 or Maven is missing, or Maven found no registry. ${String(error)}`,
    );
    return undefined;
  }
}

/** Whether Maven has downloaded the required jars. */
function isFilled(folder: string): boolean {
  const [complete, wanted] = [join(folder, 'complete'), join(folder, 'pom.xml')];
  return existsSync(complete) && existsSync(wanted) && readFileSync(wanted, 'utf8') === pom();
}

function pom(): string {
  const dependency = (group: string, artifact: string, version: string, more = ''): string =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>${more}</dependency>`;
  // The plugin contains its own libraries, which Kafka Connect isolates.
  const plugin =
    '<classifier>plugin</classifier><type>tar.gz</type><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>';
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>brokers</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
${dependency('org.apache.kafka', 'kafka_2.13', KAFKA_VERSION)}
${dependency('org.apache.kafka', 'kafka-tools', KAFKA_VERSION)}
${dependency('org.apache.kafka', 'connect-runtime', KAFKA_VERSION)}
${dependency('org.slf4j', 'slf4j-nop', '1.7.36')}
${dependency('io.debezium', 'debezium-connector-postgres', DEBEZIUM_VERSION, plugin)}
</dependencies>
</project>
`;
}

/** A second listener of a broker, which announces another port to its clients: that of a proxy. */
export interface ProxiedListener {
  readonly port: number;
  readonly advertised: number;
}

/** Uses `port` and the next one. */
export function kafkaBroker({ classPath }: KafkaJars, port: number, proxied?: ProxiedListener): Broker {
  const folder = mkdtempSync(join(tmpdir(), 'fw-kafka-'));
  const properties = join(folder, 'server.properties');
  writeFileSync(properties, kafkaProperties(folder, port, proxied));
  const java = (...args: readonly string[]): readonly string[] => ['-Xmx512m', '-cp', classPath, ...args];
  const format = java('kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qk', '-c', properties);
  execFileSync('java', format, { stdio: 'ignore' });
  return new ProcessBroker(port, folder, () =>
    spawn('java', java('kafka.Kafka', properties), { stdio: 'ignore' }),
  );
}

function kafkaProperties(folder: string, port: number, proxied?: ProxiedListener): string {
  const also = (of: (listener: ProxiedListener) => number): string =>
    proxied === undefined ? '' : `,PROXIED://127.0.0.1:${of(proxied)}`;
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${port + 1}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1}${also((listener) => listener.port)}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}${also(({ advertised }) => advertised)}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT
log.dirs=${join(folder, 'data')}
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=3
`;
}

/** A server in its own process, which listens on one port. */
export class ProcessBroker implements Broker {
  readonly port: number;
  readonly #folder: string;
  readonly #spawn: () => ChildProcess;
  #child: ChildProcess | undefined;

  constructor(port: number, folder: string, spawnIt: () => ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#spawn = spawnIt;
  }

  async start(): Promise<void> {
    this.#child = this.#spawn();
    for (let attempt = 0; attempt < 3_000; attempt += 1) {
      if (await answers(this.port)) return;
      await sleep(100);
    }
    throw new Error(`Nothing listens on port ${this.port}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
