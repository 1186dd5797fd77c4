import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import type { KafkaJars } from './brokers.js';

/** A message as a broker delivers it. */
export interface FollowedMessage {
  readonly key: string | undefined;
  /** Undefined except in Kafka. */
  readonly partition?: number | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface Follower {
  close(): Promise<void>;
}

/** Reads a stream of JetStream from its beginning, even after the server was down. */
export async function followNats(
  port: number,
  subjects: string,
  take: (message: FollowedMessage) => void,
): Promise<Follower> {
  const connection = await connectNats({ servers: [`127.0.0.1:${port}`], maxReconnectAttempts: -1 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'EVENTS', subjects: [subjects] });
  await manager.consumers.add('EVENTS', { durable_name: 'check', ack_policy: 'explicit' });
  const consumer = await jetstream(connection).consumers.get('EVENTS', 'check');
  const messages = await consumer.consume({ max_messages: 1_000 });
  void (async () => {
    for await (const message of messages) {
      const names = message.headers?.keys() ?? [];
      const headers = new Map(names.map((name) => [name, message.headers?.get(name) ?? '']));
      take({ key: undefined, headers, body: message.string() });
      message.ack();
    }
  })().catch(() => {});
  return { close: () => connection.close() };
}

/** Ends fields and headers of a line. JSON escapes both. */
const [FIELD_END, HEADER_END] = ['\u001f', '\u001e'];

/**
 * Reads a topic of Kafka from its beginning, each message once, even after the broker was down. It uses Kafka's own
 * reader, so Java's client understands the relay's messages.
 */
export async function followKafka(
  { classPath }: KafkaJars,
  { port, topic }: { readonly port: number; readonly topic: string },
  take: (message: FollowedMessage) => void,
): Promise<Follower> {
  const printed = ['partition', 'offset', 'headers', 'key'].map((part) => `print.${part}=true`);
  const separators = [`key.separator=${FIELD_END}`, `headers.separator=${HEADER_END}`];
  const properties = [...printed, ...separators].flatMap((property) => ['--property', property]);
  const reader = ['org.apache.kafka.tools.consumer.ConsoleConsumer', '--from-beginning', '--topic', topic];
  const args = ['-Xmx256m', '-cp', classPath, ...reader, '--bootstrap-server', `127.0.0.1:${port}`];
  const child = spawn('java', [...args, ...properties], { stdio: ['ignore', 'pipe', 'ignore'] });
  /** By partition. After the broker was down, the reader may start again. */
  const read = new Map<number, number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { partition, offset, ...message } = lineOf(line);
    if (offset <= (read.get(partition) ?? -1)) return;
    read.set(partition, offset);
    take({ ...message, partition });
  });
  const gone = once(child, 'exit');
  return {
    close: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

interface ReadLine extends FollowedMessage {
  readonly partition: number;
  readonly offset: number;
}

/** `Partition:1`, `Offset:5`, headers, key and value. */
function lineOf(line: string): ReadLine {
  const [partition = '', offset = '', headers = '', key = '', ...body] = line.split(FIELD_END);
  const numberIn = (text: string): number => Number(text.slice(text.indexOf(':') + 1));
  const pairs = headers.split(HEADER_END).map((header) => {
    const colon = header.indexOf(':');
    return [header.slice(0, colon), header.slice(colon + 1)] as const;
  });
  return {
    partition: numberIn(partition),
    offset: numberIn(offset),
    headers: new Map(pairs),
    key,
    body: body.join(FIELD_END),
  };
}
