import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Statement } from '../../sharding/shard-database.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import type { FlushRequest } from '../shard-store.js';
import { areSingle, recordsOf } from './flush-records.js';
import { foldGroup, type RowChange } from './folded-group.js';
import { MergedForm } from './merged-form.js';
import { asSingle, SingleForm } from './single-form.js';
import { StatementBuilder } from './statement-builder.js';
import { changesByTable, type FlushRules } from './table-changes.js';

/** Makes flush statements for one shard. */
export class FlushStatements {
  readonly #shard: ShardIdentifier;
  readonly #namespace: string;
  readonly #events: EventCatalog;

  constructor(shard: ShardIdentifier, namespace: string, events: EventCatalog) {
    this.#shard = shard;
    this.#namespace = namespace;
    this.#events = events;
  }

  /**
   * The statement that applies these groups.
   *
   * @throws ValidationError if a value does not fit its column
   * @throws FoldingOutdated if a row is folded that may not be
   */
  make(request: FlushRequest, rules: FlushRules = {}): Statement {
    return this.build(request, rules).statement();
  }

  /** The same before its text is looked up. */
  build({ groups, locked }: FlushRequest, rules: FlushRules = {}): StatementBuilder {
    const plans = groups.flat();
    const changes = groups.map(foldGroup);
    const namespace = this.#namespace;
    const skipLocked = locked === 'skip';
    const records = recordsOf(plans, this.#events, this.#shard.bits);
    const builder = new StatementBuilder();
    const [first, second] = plans;
    const single = second === undefined && areSingle(records) ? asSingle(changes[0] ?? []) : undefined;
    if (first !== undefined && single !== undefined) {
      const { action } = first;
      new SingleForm(builder, { namespace, action, changes: single, records, skipLocked }).write();
    } else {
      const actions = plans.map(({ action }) => action);
      const sizes = groups.map((group, index) => ({ plans: group.length, checks: checksOf(changes[index]) }));
      const tables = changesByTable(changes, rules);
      new MergedForm(builder, { namespace, actions, groups: sizes, tables, records, skipLocked }).write();
    }
    return builder;
  }
}

/** Of how many rows the version is checked. */
function checksOf(changes: readonly RowChange[] = []): number {
  return changes.reduce((sum, { kind }) => (kind === 'add' ? sum : sum + 1), 0);
}
