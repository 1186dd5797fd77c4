/** One entry. Entries whose keys have the same hash are linked. */
interface Entry<V> {
  readonly key: string;
  readonly hash: number;
  value: V;
  next: Entry<V> | undefined;
}

type Bucket<V> = Entry<V> | undefined;

const INITIAL_BUCKETS = 64;
/** Keys end in the random part of an id, so their suffixes differ most. */
const HASHED_CHARACTERS = 8;

/**
 * A map for entries that come and go thousands of times a second. In V8, a `Map` or `Set` under such use makes
 * short-lived objects expensive: a table that it has outgrown keeps its entries and a reference to its successor
 * (`OrderedHashTable::Rehash`). So once one table was promoted to the old generation, every later entry survives and is
 * copied twice, until the next full collection. Here removed entries are not referenced by, and do not reference,
 * anything.
 *
 * For keys with different suffixes, such as `model/id`: only the suffix is hashed. Many keys that callers choose belong
 * into a `Map`.
 *
 * Hashing with chains; the number of buckets doubles and never shrinks.
 */
export class TransientMap<V> {
  #buckets: Bucket<V>[] = emptyBuckets(INITIAL_BUCKETS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  get(key: string): V | undefined {
    return this.#find(key)?.value;
  }

  set(key: string, value: V): void {
    const known = this.#find(key);
    if (known !== undefined) {
      known.value = value;
      return;
    }
    if (this.#size === this.#buckets.length) this.#grow();
    const hash = hashOf(key);
    const index = hash & (this.#buckets.length - 1);
    this.#buckets[index] = { key, hash, value, next: this.#buckets[index] };
    this.#size += 1;
  }

  delete(key: string): void {
    const hash = hashOf(key);
    const index = hash & (this.#buckets.length - 1);
    let before: Bucket<V>;
    let entry = this.#buckets[index];
    while (entry !== undefined && !(entry.hash === hash && entry.key === key)) {
      before = entry;
      entry = entry.next;
    }
    if (entry === undefined) return;
    if (before === undefined) this.#buckets[index] = entry.next;
    else before.next = entry.next;
    entry.next = undefined;
    this.#size -= 1;
  }

  #find(key: string): Bucket<V> {
    if (this.#size === 0) return undefined;
    const hash = hashOf(key);
    let entry = this.#buckets[hash & (this.#buckets.length - 1)];
    while (entry !== undefined && !(entry.hash === hash && entry.key === key)) entry = entry.next;
    return entry;
  }

  #grow(): void {
    const outgrown = this.#buckets;
    this.#buckets = emptyBuckets(outgrown.length * 2);
    for (const first of outgrown) {
      for (let entry = first; entry !== undefined; ) {
        const { next } = entry;
        const index = entry.hash & (this.#buckets.length - 1);
        entry.next = this.#buckets[index];
        this.#buckets[index] = entry;
        entry = next;
      }
    }
    outgrown.length = 0;
  }
}

function emptyBuckets<V>(count: number): Bucket<V>[] {
  return new Array<Bucket<V>>(count).fill(undefined);
}

/** The polynomial hash of `java.lang.String`, of the last characters only. */
function hashOf(key: string): number {
  let hash = 0;
  const first = Math.max(0, key.length - HASHED_CHARACTERS);
  for (let index = key.length - 1; index >= first; index -= 1) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return hash;
}
