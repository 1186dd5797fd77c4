import { randomUUID } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { contentHash } from '../content-hash.js';
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

/** Texts of what runs read, one behind the other in a file, so that a run adds what is new and rewrites nothing. */
export class StoredTexts implements ResultTexts {
  readonly #folder: string;
  readonly #before: TextsFile | undefined;
  /** Absolute path of the file of before: joined once for thousands of reads. */
  readonly #file: string | undefined;
  readonly #added: Buffer[] = [];
  #addedBytes = 0;
  #reads = 0;
  #whole: Buffer | undefined;

  /** @param before what an earlier run kept; undefined to start empty */
  constructor(folder: string, before: TextsFile | undefined) {
    this.#folder = folder;
    // A record is a file like any other: whatever it says, nothing else is read or written.
    this.#before = before !== undefined && NAME.test(before.name) ? before : undefined;
    this.#file = this.#before === undefined ? undefined : join(folder, this.#before.name);
  }

  /** More lies around than is needed: texts had better be kept in another file. */
  get isWorn(): boolean {
    const { size = 0, firstSize = 0 } = this.#before ?? {};
    return size > 2 * firstSize + SLACK_BYTES;
  }

  add(text: string): string {
    const bytes = Buffer.from(text);
    const offset = (this.#before?.size ?? 0) + this.#addedBytes;
    this.#added.push(bytes);
    this.#addedBytes += bytes.length;
    return `${offset}.${bytes.length}.${hashOf(text)}`;
  }

  get(place: string): string {
    const [offset = '', length = '', hash = ''] = place.split('.');
    const text = this.#read(Number(offset), Number(length));
    if (text === undefined || hashOf(text) !== hash)
      throw new LostResultError(`No text is stored at ${place}`);
    return text;
  }

  /** Writes what was added. @returns which file holds all now @throws the error of the file system */
  save(): TextsFile {
    const {
      name = `${PREFIX}${randomUUID()}.txt`,
      size = 0,
      firstSize = this.#addedBytes,
    } = this.#before ?? {};
    const bytes = Buffer.concat(this.#added);
    if (this.#file === undefined) writeFileSync(join(this.#folder, name), bytes);
    else writeAt(this.#file, bytes, size);
    return { name, size: size + bytes.length, firstSize };
  }

  #read(offset: number, length: number): string | undefined {
    const file = this.#file;
    if (file === undefined) return undefined;
    this.#reads += 1;
    try {
      if (this.#reads > SINGLE_READS) this.#whole ??= readFileSync(file);
      return this.#whole?.toString('utf8', offset, offset + length) ?? readAt(file, offset, length);
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

function hashOf(text: string): string {
  return contentHash(text).slice(0, HASH_LENGTH);
}

function readAt(file: string, offset: number, length: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(length);
    const count = readSync(descriptor, bytes, 0, length, offset);
    return bytes.toString('utf8', 0, count);
  } finally {
    closeSync(descriptor);
  }
}

/** Two processes at once write over each other: the hashes detect it. */
function writeAt(file: string, bytes: Buffer, offset: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, bytes, 0, bytes.length, offset);
  } finally {
    closeSync(descriptor);
  }
}
