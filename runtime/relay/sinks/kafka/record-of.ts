import type { MessageToProduce } from '@platformatic/kafka';
import type { RelayMessage } from '../../relay-sink.js';
import { addressOf } from '../address-template.js';

export type KafkaRecord = MessageToProduce<Buffer, Buffer, Buffer, Buffer>;

/** @param topic template with placeholders */
export function recordOf(topic: string, message: RelayMessage): KafkaRecord {
  const { key, body, contentType, attributes } = message;
  const headers = Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value] as const);
  return {
    topic: addressOf(topic, message),
    key: Buffer.from(key),
    value: Buffer.from(body),
    headers: new Map(
      [...headers, ['content-type', contentType] as const].map(([name, value]) => [
        Buffer.from(name),
        Buffer.from(value),
      ]),
    ),
  };
}
