import { expect, test } from 'vitest';
import { HeldLease } from './held-lease.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };

const agoMs = (milliseconds: number): number => performance.now() - milliseconds;

test('a lease expires by itself, and a renewal extends it', () => {
  const lease = new HeldLease(LEASE, agoMs(120_000), 60_000);
  expect(lease.valid).toBe(false);
  lease.renewed(agoMs(0));
  expect(lease.valid).toBe(true);
});

test('a late reply to a renewal does not shorten a later renewal', () => {
  const lease = new HeldLease(LEASE, agoMs(0), 60_000);
  lease.renewed(agoMs(120_000));
  expect(lease.valid).toBe(true);
});

test('a lost lease is not valid', () => {
  const lease = new HeldLease(LEASE, agoMs(0), 60_000);
  lease.lost();
  expect(lease.valid).toBe(false);
});
