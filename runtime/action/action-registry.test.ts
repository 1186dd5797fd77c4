import { describe, expect, test } from 'vitest';
import { systemClock } from '../domain/clock.js';
import { UnknownActionError, ValidationError } from '../errors.js';
import { Action } from './action.js';
import type { ActionDescriptor } from './action-descriptor.js';
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

  test('does not know a class that is not registered', () => {
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
