import type { MessageToProduce } from '@platformatic/kafka';
import { SHARED_NAMES } from '../../message/message-format.js';
import type { RelayMessage } from '../../relay-sink.js';
import { addressOf } from '../address-template.js';

export type KafkaRecord = MessageToProduce<Buffer, Buffer, Buffer, Buffer>;

/** Maximum cached texts. */
const MOST_KEPT = 4_096;

/** Converts messages to records. Encodes texts that many messages share only once. */
export class RecordWriter {
  readonly #topic: string;
  readonly #topics = new Map<string, string>();
  readonly #bytes = new Map<string, Buffer>();

  /** @param topic template with placeholders */
  constructor(topic: string) {
    this.#topic = topic;
  }

  recordOf(message: RelayMessage): KafkaRecord {
    const { attributes } = message;
    const key = Buffer.from(message.key);
    const bytes = new Map<Buffer, Buffer>();
    for (const name of Object.keys(attributes)) {
      const value = attributes[name] ?? '';
      const own = value === message.key ? key : Buffer.from(value);
      bytes.set(this.#kept(`ce_${name}`), SHARED_NAMES.has(name) ? this.#kept(value) : own);
    }
    bytes.set(this.#kept('content-type'), this.#kept(message.contentType));
    return { topic: this.#topicOf(message), key, value: Buffer.from(message.body), headers: bytes };
  }

  #topicOf(message: RelayMessage): string {
    const name = `${message.modelName} ${message.eventType}`;
    let topic = this.#topics.get(name);
    if (topic === undefined) {
      topic = addressOf(this.#topic, message);
      this.#topics.set(name, topic);
    }
    return topic;
  }

  #kept(text: string): Buffer {
    let bytes = this.#bytes.get(text);
    if (bytes === undefined) {
      bytes = Buffer.from(text);
      if (this.#bytes.size < MOST_KEPT) this.#bytes.set(text, bytes);
    }
    return bytes;
  }
}
