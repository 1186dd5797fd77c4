import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { DuplicateKeyError, PlanMisuseError } from '../../errors.js';
import { handoverSteps } from '../../persistence/write/key-handover.js';

/**
 * Checks that the natural keys of a plan's models do not conflict.
 *
 * @param keyed all items of the plan whose models have keys, if there are any
 * @throws DuplicateKeyError if two of them would have the same key
 * @throws PlanMisuseError if models exchange their keys
 */
export function requireKeys(keyed: readonly StagedItem[] | undefined): void {
  if (keyed === undefined) return;
  const holders = new Map<string, Entity>();
  for (const { kind, descriptor, model } of keyed) {
    if (kind === 'expect') continue;
    for (const key of heldKeys(model)) {
      const other = holders.get(key);
      if (other !== undefined) {
        const ids = [other.id.getValue(), model.id.getValue()] as const;
        throw new DuplicateKeyError(
          `${descriptor.name} ${ids[0]} and ${ids[1]} have the same key in one plan; stage one of them, or use getOrAdd`,
          { modelName: descriptor.name, ids },
        );
      }
      holders.set(key, model);
    }
  }
  if (handoverSteps(keyed) !== undefined) return;
  const names = keyed.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
  throw new PlanMisuseError(
    `Models exchange their natural keys in one plan: among ${names.join(', ')}. ` +
      'A unique index refuses that. Give one of them a temporary key in an earlier action',
  );
}
