import { describe, expect, test } from 'vitest';
import { systemClock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import { t } from '../domain/field-types.js';
import { UnknownActionError, ValidationError } from '../errors.js';
import { Action } from './action.js';
import type { ActionDescriptor } from './action-descriptor.js';
import type { Default } from './action-input.js';
import { ActionRegistry } from './action-registry.js';

class PingAction extends Action<{ readonly host: string }, number> {
  protected perform(): number {
    return 1;
  }
}

class PongAction extends Action<{ readonly host: string }, number> {
  protected perform(): number {
    return 2;
  }
}

interface ListParams {
  readonly host: string;
  readonly limit: Default<number>;
  readonly price: Default<Decimal>;
  readonly seen: Default<bigint>;
}

class ListAction extends Action<ListParams, number> {
  protected perform(): number {
    return 3;
  }
}

const ping: ActionDescriptor<{ readonly host: string }, number> = {
  name: 'Ping',
  actionClass: PingAction,
  params: [{ name: 'host', type: { kind: 'string' } }],
  create: () => new PingAction(systemClock),
};

describe('ActionRegistry', () => {
  test('finds an action by class and by name', () => {
    const registry = new ActionRegistry([ping]);
    expect(registry.find(PingAction)).toBe(ping);
    expect(registry.named('Ping')).toBe(ping);
    expect(registry.named('Pong')).toBeUndefined();
    expect(registry.all()).toEqual([ping]);
  });

  test('replaces absent params by their defaults, as values of their types', () => {
    const withDefaults: ActionDescriptor<ListParams, number> = {
      name: 'List',
      actionClass: ListAction,
      params: [
        { name: 'host', type: { kind: 'string' } },
        { name: 'limit', type: { kind: 'number' }, optional: true, default: 0 },
        { name: 'price', type: { kind: 'decimal', precision: 9, scale: 2 }, optional: true, default: '1.50' },
        { name: 'seen', type: { kind: 'bigint' }, optional: true, default: '7' },
      ],
      create: () => new ListAction(systemClock),
    };
    const registry = new ActionRegistry([ping, withDefaults]);
    const price = new Decimal('1.5');
    expect(registry.complete(withDefaults, { host: 'a' })).toEqual({ host: 'a', limit: 0, price, seen: 7n });
    const given = { host: 'a', limit: 3, price: new Decimal(0), seen: 0n };
    expect(registry.complete(withDefaults, given)).toEqual(given);
    const asked = { host: 'a' };
    expect(registry.complete(ping, asked)).toBe(asked);
  });

  test('gives each execution its own default list, object and date', () => {
    const params = Object.values({
      tags: { ...t.list(t.string(), { default: ['a'] }), name: 'tags' },
      note: { ...t.json({ default: { seen: [] } }), name: 'note' },
      at: { ...t.instant({ default: '2026-01-31T09:30:00.000Z' }), name: 'at' },
    });
    for (const param of params) {
      const action: ActionDescriptor<object, number> = {
        ...(ping as object as ActionDescriptor<object, number>),
        params: [param],
      };
      const registry = new ActionRegistry([action]);
      const [first, second] = [0, 1].map(() => Object.values(registry.complete(action, {})));
      expect(first).toEqual(second);
      expect(first?.[0]).not.toBe(second?.[0]);
    }
  });

  test('refuses a class that is not registered', () => {
    expect(() => new ActionRegistry([ping]).find(PongAction)).toThrow(UnknownActionError);
    expect(() => new ActionRegistry([ping]).find(PongAction)).toThrow(
      'PongAction is not in the ActionRegistry',
    );
  });

  test('refuses a class or a name that is registered twice', () => {
    expect(() => new ActionRegistry([ping, { ...ping, name: 'Other' }])).toThrow(ValidationError);
    expect(() => new ActionRegistry([ping, { ...ping, actionClass: PongAction }])).toThrow(
      'registered twice',
    );
  });
});
