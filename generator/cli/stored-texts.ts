import { hash, randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LostResultError, type ResultTexts } from '../watch.js';

/** The file of the stored texts, and the length that a record covers. Bytes behind that are garbage. */
export interface TextsFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Size when the file was made. What was added since took the place of something. */
  readonly firstSize: number;
}

const PREFIX = 'texts-';
const NAME = /^texts-[0-9a-f-]{36}\.txt$/;
/** Up to this number, texts are read one by one; beyond it, the whole file is read. */
const SINGLE_READS = 64;
/** Garbage tolerated before compaction, in bytes. */
const SLACK_BYTES = 1_000_000;
const HASH_LENGTH = 16;
/** Texts up to this length are their own places: to look for them would take longer. */
const SHORT = 300;
const INLINE = '=';
/** Texts are written together once there is so much of them: they take memory twice until then. */
const CHUNK_BYTES = 1_000_000;

/** Texts of what runs read, one behind the other in a file, so that a run adds what is new and rewrites nothing. */
export class StoredTexts implements ResultTexts {
  readonly #before: TextsFile | undefined;
  /** Absolute path, joined once for thousands of reads. */
  readonly #file: string;
  /** Name of the file, the one of before if there is one. */
  readonly #name: string;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #reads = 0;
  #whole: Buffer | undefined;

  /** @param before what an earlier run kept; undefined to start empty */
  constructor(folder: string, before: TextsFile | undefined) {
    // A record is a file like any other: whatever it says, nothing else is read or written.
    this.#before = before !== undefined && NAME.test(before.name) ? before : undefined;
    this.#name = this.#before?.name ?? `${PREFIX}${randomUUID()}.txt`;
    this.#file = join(folder, this.#name);
  }

  /** More lies around than is needed: texts had better be kept in another file. */
  get isWorn(): boolean {
    const { size = 0, firstSize = 0 } = this.#before ?? {};
    return size > 2 * firstSize + SLACK_BYTES;
  }

  /** @throws the error of the file system */
  add(text: string): string {
    if (text.length <= SHORT) return `${INLINE}${text}`;
    const bytes = Buffer.from(text);
    const place = `${this.#size}.${bytes.length}.${hashOf(bytes)}`;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    // Bytes behind those that a record covers may be there before it is.
    if (this.#pendingBytes >= CHUNK_BYTES) this.#write();
    return place;
  }

  get(place: string): string {
    if (place.startsWith(INLINE)) return place.slice(INLINE.length);
    const [offset = '', length = '', hash = ''] = place.split('.');
    const bytes = this.#read(Number(offset), Number(length));
    if (bytes === undefined || hashOf(bytes) !== hash)
      throw new LostResultError(`No text is stored at ${place}`);
    return bytes.toString('utf8');
  }

  /** Writes what was added. @returns which file holds all now @throws the error of the file system */
  save(): TextsFile {
    this.#write();
    return { name: this.#name, size: this.#size, firstSize: this.#before?.firstSize ?? this.#size };
  }

  /** Length of everything that is kept, in bytes. */
  get #size(): number {
    return (this.#before?.size ?? 0) + this.#writtenBytes + this.#pendingBytes;
  }

  #write(): void {
    const isNew = this.#before === undefined && this.#writtenBytes === 0;
    writeAt(this.#file, Buffer.concat(this.#pending), { offset: this.#size - this.#pendingBytes, isNew });
    this.#writtenBytes += this.#pendingBytes;
    this.#pending.length = 0;
    this.#pendingBytes = 0;
  }

  #read(offset: number, length: number): Buffer | undefined {
    if (this.#before === undefined) return undefined;
    this.#reads += 1;
    try {
      if (this.#reads > SINGLE_READS) this.#whole ??= readFileSync(this.#file);
      return this.#whole?.subarray(offset, offset + length) ?? readAt(this.#file, offset, length);
    } catch {
      return undefined;
    }
  }
}

/** Removes files of texts that no record speaks of any more. */
export function removeOtherTexts(folder: string, { name }: TextsFile): void {
  for (const each of readdirSync(folder)) {
    if (each.startsWith(PREFIX) && each !== name) rmSync(join(folder, each), { force: true });
  }
}

function hashOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url').slice(0, HASH_LENGTH);
}

function readAt(file: string, offset: number, length: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
  } finally {
    closeSync(descriptor);
  }
}

/** Two processes at once write over each other: the hashes detect it. */
function writeAt(
  file: string,
  bytes: Buffer,
  { offset, isNew }: { readonly offset: number; readonly isNew: boolean },
): void {
  const descriptor = openSync(file, isNew ? 'w' : 'r+');
  try {
    for (let at = 0; at < bytes.length; )
      at += writeSync(descriptor, bytes, at, bytes.length - at, offset + at);
  } finally {
    closeSync(descriptor);
  }
}
