import { hash, randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LostResultError, type ResultTexts } from '../generator/watch.js';

/** The file of the stored texts, and the length that belongs to a record. Bytes behind it are garbage. */
export interface TextsFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Size when the file was created. Later texts replaced earlier ones, which became garbage. */
  readonly firstSize: number;
}

const PREFIX = 'texts-';
const NAME = /^texts-[0-9a-f-]{36}\.txt$/;
/** Up to this number, texts are read one by one; beyond it, the whole file is read. */
const SINGLE_READS = 64;
/** Garbage tolerated before compaction, in bytes. */
const SLACK_BYTES = 1_000_000;
const HASH_LENGTH = 16;
/** Maximum length of texts that are stored in their places. Looking them up would take longer. */
const SHORT = 300;
const INLINE = '=';
/** Size at which pending texts are written, in bytes. Until then, they take up memory twice. */
const CHUNK_BYTES = 1_000_000;

/** Texts of results, appended to one file. A run appends new texts and rewrites nothing. */
export class StoredTexts implements ResultTexts {
  readonly #before: TextsFile | undefined;
  /** Absolute path, joined once for thousands of reads. */
  readonly #file: string;
  /** Name of the file: that of the earlier run, if there was one. */
  readonly #name: string;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #reads = 0;
  #whole: Buffer | undefined;

  /** @param before the file of an earlier run; undefined to start an empty one */
  constructor(folder: string, before: TextsFile | undefined) {
    // Validates the name, because a record may have been edited. Only files of texts are read or written.
    this.#before = before !== undefined && NAME.test(before.name) ? before : undefined;
    this.#name = this.#before?.name ?? `${PREFIX}${randomUUID()}.txt`;
    this.#file = join(folder, this.#name);
  }

  /** Whether the file contains so much garbage that texts should be stored in a new one. */
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
    // Texts may be written before their record, because bytes behind the record's size are ignored.
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

  /** Writes pending texts. @returns the file that now contains all texts @throws the error of the file system */
  save(): TextsFile {
    this.#write();
    return { name: this.#name, size: this.#size, firstSize: this.#before?.firstSize ?? this.#size };
  }

  /** Length of all texts, in bytes. */
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

/** Removes files of texts that no record refers to. */
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

/** Concurrent processes may overwrite each other's texts. Hashes detect this. */
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
