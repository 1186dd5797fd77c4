/**
 * Works on the items in their order, on at most `atOnce` at a time. Rejects with the first failure of `work`; work that
 * has begun then continues.
 */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const pending = items.values();
  const worker = async (): Promise<void> => {
    for (const item of pending) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
