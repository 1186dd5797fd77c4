import type { ActionClass } from '../action/action.js';
import { Action } from '../action/action.js';
import { objectType, t } from '../domain/field-types.js';
import { defineAction, wireActions } from './define-action.js';

abstract class Get extends Action<{ readonly id: string }, Date> {}
abstract class Put extends Action<void, string> {}
declare const getClass: ActionClass<{ readonly id: string }, Date>;
declare const putClass: ActionClass<void, string>;
declare const makeGet: () => Get;
declare const makePut: () => Put;

const type = objectType({ name: 'Answer', fields: { at: t.instant() } });

// A mapper accepts the result of its action.
defineAction(getClass, { response: { type, map: (at) => ({ at: at.toISOString() }) } });
// @ts-expect-error a `Date` has no length
defineAction(getClass, { response: { type, map: (at) => ({ at: at.length }) } });
// @ts-expect-error the mapper belongs to another action
defineAction(getClass, { response: { type, map: (text: string) => ({ text }) } });

const actions = { Get: defineAction(getClass, {}), Put: defineAction(putClass, {}) };

wireActions(actions, { Get: makeGet, Put: makePut });
// @ts-expect-error one action has no wiring
wireActions(actions, { Get: makeGet });
// @ts-expect-error the wiring belongs to another action
wireActions(actions, { Get: makePut, Put: makePut });
