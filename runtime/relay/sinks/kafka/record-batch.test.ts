import {
  crc32c,
  createRecordsBatch,
  murmur2 as murmur2OfClient,
  Reader,
  readRecordsBatch,
} from '@platformatic/kafka';
import { expect, test } from 'vitest';
import { murmur2 } from './murmur2.js';
import { type KafkaRecord, RecordBatch } from './record-batch.js';

const ORIGIN = {
  producerId: 4_711n,
  producerEpoch: 3,
  sequence: 2 ** 31 - 2,
  timestampMs: 1_767_323_045_678,
};

/** The client's encoder and decoder are the judges. */
function encode(records: readonly KafkaRecord[]): Buffer {
  const batch = new RecordBatch();
  for (const record of records) batch.add(record);
  return batch.finish(ORIGIN, crc32c);
}

function texts(lengths: readonly number[], unit: string): readonly KafkaRecord[] {
  return lengths.map((length) => {
    const text = unit.repeat(length);
    return {
      key: text.slice(0, 100),
      value: text,
      headers: ['ce_id', text.slice(0, 300), text.slice(0, 70), ''],
    };
  });
}

test.each([
  ['ASCII', 'x'],
  ['letters of two bytes', 'é'],
  ['letters of three and four bytes', '漢🚀'],
])('a batch has the bytes that the client writes, at each size of a length: %s', (_, unit) => {
  const records = texts(
    [0, 1, 20, 21, 31, 32, 63, 64, 1_000, 2_730, 4_096, 8_190, 8_191, 8_192, 350_000],
    unit,
  );
  const messages = records.map(
    ({ key, value, headers: [name = '', first = '', other = '', empty = ''] }) => ({
      key: Buffer.from(key),
      value: Buffer.from(value),
      headers: new Map([
        [Buffer.from(name), Buffer.from(first)],
        [Buffer.from(other), Buffer.from(empty)],
      ]),
      topic: 't',
      partition: 0,
      timestamp: BigInt(ORIGIN.timestampMs),
    }),
  );
  const sequences = { getWithDefault: () => ORIGIN.sequence };
  const options = { ...ORIGIN, sequences, partitionLeaderEpoch: -1 };
  const expected = createRecordsBatch(
    messages,
    options as unknown as Parameters<typeof createRecordsBatch>[1],
  );
  expect(encode(records).equals(expected.buffer)).toBe(true);
});

test('a batch is read back as it was written', () => {
  const records = texts([3, 40], 'ab');
  const batch = readRecordsBatch(Reader.from(encode(records)));
  const { producerId, producerEpoch, sequence: firstSequence, timestampMs } = ORIGIN;
  expect(batch).toMatchObject({
    producerId,
    producerEpoch,
    firstSequence,
    firstTimestamp: BigInt(timestampMs),
  });
  const read = batch.records.map(({ key, value, headers }) => ({
    key: String(key),
    value: String(value),
    headers: headers.flat().map(String),
  }));
  expect(read).toEqual(records);
});

test('keys hash as in the client, at every length and with any bytes', () => {
  for (let length = 0; length < 70; length += 1) {
    const key = Buffer.from(Array.from({ length }, (_, index) => (index * 89 + length * 31) & 0xff));
    expect(murmur2(key)).toBe(murmur2OfClient(key) & 0x7fffffff);
  }
});
