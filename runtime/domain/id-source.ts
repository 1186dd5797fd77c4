import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Inputs of ids: the system clock in milliseconds and random bytes. */
export interface IdSource {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Fills the array with random bytes. */
  fillRandom(target: Uint8Array): void;
}

const systemSource: IdSource = {
  nowMs: () => Date.now(),
  fillRandom: (target) => void randomFillSync(target),
};

const COUNTER_SEED_LIMIT = 2048;
const COUNTER_LIMIT = 4096;
/** Bytes of a UUID. */
const UUID_BYTES = 16;
/** Index of the last random bytes of a UUID; the bytes before contain time, counter and shard. */
const TAIL_START = 10;
const POOL_BYTES = UUID_BYTES * 256;

/**
 * Creates UUIDs of version 7 (RFC 9562, section 5.7, method 1 of 6.2) whose `rand_a` is a counter and whose `rand_b`
 * starts with 14 shard bits. Ids of one generator strictly increase, even when the clock steps back: in each
 * millisecond the counter starts at a random value of 0..2047, and when it passes 4095 the timestamp advances.
 */
export class Uuid7Generator {
  #source: IdSource;
  readonly #pool = new Uint8Array(POOL_BYTES);
  readonly #scratch = new Uint8Array(UUID_BYTES);
  readonly #bytes: Buffer = Buffer.alloc(UUID_BYTES);
  #poolOffset = POOL_BYTES;
  #lastMs = 0;
  #counter = 0;

  constructor(source: IdSource = systemSource) {
    this.#source = source;
  }

  /** A new id that carries these 14 shard bits, in canonical text form. */
  next(shardBits: number): string {
    const random = this.#random();
    this.#tick(random);
    // The v7 function of uuid encodes its 32-bit `seq` as rand_a (12 bits), then 6 + 8 + 6 bits after the variant. The
    // middle 14 bits are where group and member belong; the last 6 stay random.
    const seq = ((this.#counter << 20) | (shardBits << 6) | ((random[2] ?? 0) & 0x3f)) >>> 0;
    v7({ msecs: this.#lastMs, seq, random }, this.#bytes);
    return textOf(this.#bytes);
  }

  /** Replaces clock and random numbers and resets the counter. For tests that need the same ids in every run. */
  reset(source: IdSource = systemSource): void {
    this.#source = source;
    this.#poolOffset = POOL_BYTES;
    this.#lastMs = 0;
    this.#counter = 0;
  }

  #tick(random: Uint8Array): void {
    const nowMs = this.#source.nowMs();
    if (nowMs <= this.#lastMs) {
      this.#counter += 1;
      if (this.#counter < COUNTER_LIMIT) return;
    }
    this.#lastMs = Math.max(nowMs, this.#lastMs + 1);
    this.#counter = (((random[0] ?? 0) << 8) | (random[1] ?? 0)) % COUNTER_SEED_LIMIT;
  }

  /** Fresh random bytes where they are used: 0..2 for the counter's start and `seq`, the rest for the id's tail. */
  #random(): Uint8Array {
    if (this.#poolOffset >= POOL_BYTES) {
      this.#source.fillRandom(this.#pool);
      this.#poolOffset = 0;
    }
    // One array serves all ids, because a view into the pool per id would cost more than the rest of the id.
    const start = this.#poolOffset;
    this.#poolOffset += UUID_BYTES;
    for (let index = 0; index < 3; index += 1) this.#scratch[index] = this.#pool[start + index] ?? 0;
    for (let index = TAIL_START; index < UUID_BYTES; index += 1)
      this.#scratch[index] = this.#pool[start + index] ?? 0;
    return this.#scratch;
  }
}

/** Every action needs several ids: slices of one hexadecimal text leave half as much garbage. */
function textOf(uuid: Buffer): string {
  const hex = uuid.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The process-wide generator: one counter for all ids of this process. */
export const uuid7: Uuid7Generator = new Uuid7Generator();
