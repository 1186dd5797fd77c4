import { expect, test } from 'vitest';
import type { FieldType } from '../domain/descriptor.js';
import { Entity, instantiate, type ModelDescriptor } from '../domain/entity.js';
import { Id } from '../domain/id.js';
import { KnownPrincipal } from '../domain/principal.js';
import { PlanMisuseError } from '../errors.js';
import { visible } from './access-rule.js';

class Room extends Entity<Room, Id<Room>, 'OPEN'> {
  readonly place!: unknown;
}

function roomAt(place: unknown, type: FieldType): Room {
  const model: ModelDescriptor<Room> = {
    ...{ name: 'Room', kind: 'entity', modelClass: () => Room, table: 'rooms', sharded: false },
    columns: [
      { field: 'id', column: 'id', type: { kind: 'id', model: 'Room', sharded: false }, sqlType: 'uuid' },
      { field: 'place', column: 'place', type, sqlType: 'jsonb' },
    ],
  };
  return instantiate(model, { id: Id.of(Room, '01890000-0000-7000-8000-000000000000'), place });
}

const region = { kind: 'object', fields: [{ name: 'region', type: { kind: 'string' } }] } as const;

test.each<[FieldType, unknown, unknown]>([
  [region, { region: 'eu' }, { region: 'us' }],
  [{ kind: 'list', of: region }, [{ region: 'eu' }], [{ region: 'us' }]],
  [{ kind: 'json' }, { region: 'eu' }, { region: 'us' }],
])('a rule that compares documents (%j) is refused', (type, stored, allowed) => {
  const rule = visible(Room, () => ({ place: allowed }));
  expect(() => rule.allows(new KnownPrincipal('ana'), roomAt(stored, type))).toThrow(PlanMisuseError);
});

test('a rule compares literals of several types, which are stored as documents', () => {
  const room = roomAt(7, { kind: 'enum', values: ['auto', 7] });
  const allows = (place: unknown) => visible(Room, () => ({ place })).allows(new KnownPrincipal('ana'), room);
  expect([allows(7), allows('7'), allows('auto')]).toEqual([true, false, false]);
});
