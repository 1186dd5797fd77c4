import type { ActionRegistry } from '../action/action-registry.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { uuid7 } from '../domain/id-source.js';
import type { KnownPrincipal } from '../domain/principal.js';
import type { ActionRow, PlanWrite } from '../persistence/write/plan-write.js';
import { type Span, traceParentOf } from '../tracing.js';
import type { PlanPart } from './routing.js';
import { scheduleRows } from './scheduled-rows.js';

interface Facts extends Pick<ActionRow, 'startedDate' | 'completedDate' | 'params'> {
  readonly principal: KnownPrincipal;
  readonly key: PlanWrite['key'];
}

interface Request {
  readonly action: { readonly name: string; readonly version?: number };
  readonly configuration: ExecutionConfiguration;
  readonly registry: ActionRegistry;
  readonly span: Span | undefined;
}

/** One attempt's write for a shard transaction, under its own action id. */
export function partWrite(
  { action, configuration, registry, span }: Request,
  part: PlanPart,
  facts: Facts,
): PlanWrite {
  const id = uuid7.next(part.shard.bits);
  span?.setAttributes({ 'fw.action.id': id, 'fw.shard': part.shard.toString() });
  const { key, principal, startedDate, completedDate, params } = facts;
  return {
    action: {
      id,
      name: action.name,
      principal: principal.name,
      claims: principal.claimsJson,
      startedDate,
      completedDate,
      params,
    },
    paramsVersion: action.version,
    items: part.items,
    traceContext: span === undefined ? configuration.traceContext : traceParentOf(span),
    key,
    schedules: part.schedules && scheduleRows(part, registry),
    cancelledSchedules: part.cancelledSchedules,
  };
}
