import type { ActionRegistry } from '../action/action-registry.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { uuid7 } from '../domain/id-source.js';
import type { KnownPrincipal } from '../domain/principal.js';
import type { ActionRow, PlanWrite } from '../persistence/write/plan-write.js';
import type { Leg } from './routing.js';
import { scheduleRows } from './scheduled-rows.js';

interface Facts extends Pick<ActionRow, 'startedDate' | 'completedDate' | 'params'> {
  readonly principal: KnownPrincipal;
  readonly key: PlanWrite['key'];
}

interface Request {
  readonly action: { readonly name: string; readonly version?: number };
  readonly configuration: ExecutionConfiguration;
  readonly registry: ActionRegistry;
}

/** What one attempt writes of a leg, under an action id of its own. */
export function legWrite({ action, configuration, registry }: Request, leg: Leg, facts: Facts): PlanWrite {
  const { key, principal, startedDate, completedDate, params } = facts;
  return {
    action: {
      id: uuid7.next(leg.shard.bits),
      name: action.name,
      principal: principal.name,
      claims: principal.claimsJson,
      startedDate,
      completedDate,
      params,
    },
    paramsVersion: action.version,
    items: leg.items,
    traceContext: configuration.traceContext,
    key,
    ...(leg.schedules === undefined ? {} : { schedules: scheduleRows(leg, registry) }),
    ...(leg.cancelledSchedules === undefined ? {} : { cancelledSchedules: leg.cancelledSchedules }),
  };
}
