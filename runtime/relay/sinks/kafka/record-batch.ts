/** A message as a broker stores it. */
export interface KafkaRecord {
  readonly key: string;
  readonly value: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** Whose batch it is, and which of this producer's records in the partition comes first. */
export interface BatchOrigin {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly sequence: number;
  readonly timestampMs: number;
}

/** Bytes before the first record. */
const HEADER = 61;
const MAGIC = 2;
const NO_LEADER_EPOCH = -1;
/** Where the bytes begin that the length and the checksum cover. */
const AFTER_LENGTH = 12;
const AFTER_CHECKSUM = 21;
/** Most bytes of UTF-8 for one UTF-16 unit, and most bytes of a length. */
const UTF8_BYTES = 3;
const LENGTH_BYTES = 5;
/** Most bytes of a record beside its texts and their lengths. */
const RECORD_BYTES = 32;
const FIRST_BYTES = 16 * 1_024;

/**
 * Records of one partition in the format of Kafka 0.11 and later. The client's own encoder makes about a hundred small
 * buffers of a record with headers, which costs more than the rest of the relay. A batch that is cleared keeps its
 * memory: memory outside of the heap makes the garbage collector run more often.
 */
export class RecordBatch {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #end = HEADER;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ key, value, headers }: KafkaRecord): void {
    let characters = key.length + value.length;
    for (const text of headers) characters += text.length;
    this.#reserve(RECORD_BYTES + characters * UTF8_BYTES + (headers.length + 2) * LENGTH_BYTES);
    const start = this.#end;
    // Most records have a length of two bytes.
    const guess = 2;
    this.#end = start + guess;
    this.#buffer[this.#end] = 0; // attributes
    this.#buffer[this.#end + 1] = 0; // timestamp: that of the batch
    this.#end += 2;
    this.#length(this.#count);
    this.#text(key);
    this.#text(value);
    this.#length(headers.length / 2);
    for (const text of headers) this.#text(text);
    this.#putLength(start, guess, this.#end - start - guess);
    this.#count += 1;
  }

  /** Begins anew, in the memory that `finish` has returned. */
  clear(): void {
    this.#end = HEADER;
    this.#count = 0;
  }

  /** The whole batch, valid until it is cleared. @param checksum CRC-32C */
  finish(origin: BatchOrigin, checksum: (bytes: Buffer) => number): Buffer {
    const batch = this.#buffer.subarray(0, this.#end);
    batch.writeBigInt64BE(0n, 0); // offset: the broker's
    batch.writeInt32BE(batch.length - AFTER_LENGTH, 8);
    batch.writeInt32BE(NO_LEADER_EPOCH, AFTER_LENGTH);
    batch.writeInt8(MAGIC, 16);
    batch.writeInt16BE(0, AFTER_CHECKSUM); // attributes: no compression, time of creation
    batch.writeInt32BE(this.#count - 1, 23);
    batch.writeBigInt64BE(BigInt(origin.timestampMs), 27);
    batch.writeBigInt64BE(BigInt(origin.timestampMs), 35);
    batch.writeBigInt64BE(origin.producerId, 43);
    batch.writeInt16BE(origin.producerEpoch, 51);
    batch.writeInt32BE(origin.sequence, 53);
    batch.writeInt32BE(this.#count, 57);
    batch.writeUInt32BE(checksum(batch.subarray(AFTER_CHECKSUM)), 17);
    return batch;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#end + bytes));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }

  #text(text: string): void {
    const start = this.#end;
    // Exact if the text is ASCII.
    const guess = sizeOfLength(text.length);
    const bytes = this.#buffer.write(text, start + guess);
    this.#end = start + guess + bytes;
    this.#putLength(start, guess, bytes);
  }

  #length(value: number): void {
    const start = this.#end;
    this.#end += sizeOfLength(value);
    this.#write(start, value);
  }

  /** Writes a length in front of bytes that are there already, `gap` bytes behind it. */
  #putLength(start: number, gap: number, bytes: number): void {
    const size = sizeOfLength(bytes);
    if (size !== gap) {
      this.#buffer.copyWithin(start + size, start + gap, start + gap + bytes);
      this.#end += size - gap;
    }
    this.#write(start, bytes);
  }

  /** Zigzag encoding doubles what is not negative; seven bits a byte, the lowest first. */
  #write(start: number, value: number): void {
    let rest = value * 2;
    let at = start;
    while (rest >= 0x80) {
      this.#buffer[at] = (rest & 0x7f) | 0x80;
      rest = Math.floor(rest / 0x80);
      at += 1;
    }
    this.#buffer[at] = rest;
  }
}

function sizeOfLength(value: number): number {
  if (value < 0x40) return 1;
  if (value < 0x2000) return 2;
  if (value < 0x100000) return 3;
  return value < 0x8000000 ? 4 : LENGTH_BYTES;
}
