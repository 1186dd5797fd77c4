/**
 * Runs every entry once per round. The order rotates, and every other round runs backwards, so that no entry always
 * follows the same one.
 */
export async function rotate(entries, rounds, work) {
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % Math.max(1, entries.length);
    const order = [...entries.slice(shift), ...entries.slice(0, shift)];
    if (round % 2 === 1) order.reverse();
    for (const entry of order) await work(entry, round);
  }
}
