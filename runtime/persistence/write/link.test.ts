import { describe, expect, test } from 'vitest';
import { allApplied, Link } from './link.js';

function links(count: number): readonly Link[] {
  return Array.from({ length: count }, () => new Link());
}

describe('a link', () => {
  test('is pending until it is settled, and then stays as it is', () => {
    const link = new Link();
    expect(link.state).toBe('pending');
    link.settle(false);
    link.settle(true);
    expect(link.state).toBe('failed');
  });

  test('tells everybody who asked, once and in order, and at once whoever asks later', () => {
    const link = new Link();
    const told: string[] = [];
    link.onSettled(() => told.push('first'));
    link.onSettled(() => told.push(`second: ${link.state}`));
    link.settle(true);
    link.settle(true);
    link.onSettled(() => told.push('late'));
    expect(told).toEqual(['first', 'second: applied', 'late']);
  });
});

describe('waiting for links', () => {
  test('ends when all are settled', async () => {
    const [first, second] = links(2);
    let result: boolean | undefined;
    const waiting = allApplied([first, second].filter((link) => link !== undefined)).then((applied) => {
      result = applied;
    });
    second?.settle(true);
    await Promise.resolve();
    expect(result).toBeUndefined();
    first?.settle(true);
    await waiting;
    expect(result).toBe(true);
  });

  test('says if one of them failed', async () => {
    const [first, second] = links(2);
    first?.settle(false);
    second?.settle(true);
    expect(await allApplied([first, second].filter((link) => link !== undefined))).toBe(false);
    expect(await allApplied([])).toBe(true);
  });
});
