const MULTIPLIER = 0x5bd1e995;
const SEED = 0x9747b28c;

/** The hash by which Java's client chooses partitions, without its sign. */
export function murmur2(key: Uint8Array): number {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const whole = key.length & ~3;
  let hash = SEED ^ key.length;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(view.getInt32(at, true), MULTIPLIER);
    word = Math.imul(word ^ (word >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  if (whole < key.length) {
    for (let at = whole; at < key.length; at += 1) hash ^= view.getUint8(at) << (8 * (at - whole));
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return (hash ^ (hash >>> 15)) & 0x7fffffff;
}
