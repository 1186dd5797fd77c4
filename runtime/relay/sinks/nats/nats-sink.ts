import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { SinkConfig } from '../../../config/types.js';
import { defined } from '../../../domain/defined.js';
import { messageOf } from '../../../errors.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../../relay-sink.js';
import { addressOf } from '../address-template.js';
import { ABORTED, oneByOne } from '../one-by-one.js';
import { percentEncoded } from '../percent-encoded.js';
import { type JetStreamModule, loadNats, type TransportModule } from './load-nats.js';

/** Connection options of a NATS sink. */
export interface NatsOptions extends NonNullable<SinkConfig['nats']> {
  /** Time limit of a response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Error code for a message above the stream's `max_msg_size`. */
const MESSAGE_TOO_LARGE = 10_054;

/**
 * Publishes to JetStream. The id of an event is its `Nats-Msg-Id`, so the stream drops repetitions within its duplicate
 * window.
 */
export function natsSink(options: NatsOptions): RelaySink {
  return new NatsSink(options);
}

interface Client {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
  readonly modules: { readonly jetstream: JetStreamModule; readonly transport: TransportModule };
}

export class NatsSink implements RelaySink {
  readonly #options: NatsOptions;
  readonly #load: typeof loadNats;
  #client: Promise<Client> | undefined;

  constructor(options: NatsOptions, load: typeof loadNats = loadNats) {
    this.#options = options;
    this.#load = load;
  }

  async publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    const leave = (): void => void this.close();
    signal.addEventListener('abort', leave, { once: true });
    try {
      const client = await this.#connected();
      return await oneByOne(messages, (message) =>
        signal.aborted ? Promise.resolve(ABORTED) : this.#send(client, message),
      );
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.then(({ connection }) => connection.close()).catch(() => {});
  }

  async #send({ stream, modules }: Client, message: RelayMessage): Promise<PublishOutcome> {
    const { id, body, contentType } = message;
    const headers = modules.transport.headers();
    headers.set('content-type', contentType);
    for (const [name, value] of Object.entries(message.attributes))
      headers.set(`ce-${name}`, percentEncoded(value));
    const subject = addressOf(this.#options.subject, message);
    try {
      await stream.publish(subject, body, { msgID: id, headers, timeout: this.#options.timeoutMs });
      return ACCEPTED;
    } catch (error) {
      return this.#outcomeOf(error, modules, subject);
    }
  }

  #outcomeOf(error: unknown, { jetstream, transport }: Client['modules'], subject: string): PublishOutcome {
    const { JetStreamApiError } = jetstream;
    // The client refuses a message that, with its headers, exceeds the server's limit: sending it would close the
    // connection.
    if (error instanceof transport.InvalidArgumentError)
      return { kind: 'rejected', reason: `${subject}: ${error.message}` };
    if (error instanceof JetStreamApiError) {
      const kind = error.code === MESSAGE_TOO_LARGE ? 'rejected' : 'deferred';
      return { kind, reason: `${subject}: ${error.message}` };
    }
    if (error instanceof Error && error.name === 'JetStreamNotEnabled')
      return { kind: 'deferred', reason: `${subject}: no stream captures it, or JetStream is not enabled` };
    // Messages that the client still holds for a lost server must not be sent later.
    void this.close();
    return { kind: 'deferred', reason: `${subject}: ${messageOf(error)}` };
  }

  #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const client = this.#connect();
    this.#client = client;
    // A later one may have replaced it.
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    client.then(({ connection }) => connection.closed()).then(forget, forget);
    return client;
  }

  async #connect(): Promise<Client> {
    const { servers, username, password, token, tls, timeoutMs } = this.#options;
    const modules = await this.#load();
    const connection = await modules.transport.connect({
      servers: [...servers],
      name: 'fw-actions',
      timeout: timeoutMs,
      reconnect: false,
      ...defined({ user: username, pass: password?.reveal(), token: token?.reveal() }),
      ...(tls ? { tls: {} } : {}),
    });
    return { connection, stream: modules.jetstream.jetstream(connection), modules };
  }
}
