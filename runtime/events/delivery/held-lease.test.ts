import { expect, test } from 'vitest';
import { HeldLease } from './held-lease.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };

const agoMs = (milliseconds: number): number => performance.now() - milliseconds;

test('a lease runs out by itself, and is held on to by a renewal', () => {
  const lease = new HeldLease(LEASE, agoMs(120_000), 60_000);
  expect(lease.valid).toBe(false);
  lease.renewed(agoMs(0));
  expect(lease.valid).toBe(true);
});

test('a renewal that was long under way takes nothing from a later one', () => {
  const lease = new HeldLease(LEASE, agoMs(0), 60_000);
  lease.renewed(agoMs(120_000));
  expect(lease.valid).toBe(true);
});

test('one that is known to be gone is not valid', () => {
  const lease = new HeldLease(LEASE, agoMs(0), 60_000);
  lease.lost();
  expect(lease.valid).toBe(false);
});
