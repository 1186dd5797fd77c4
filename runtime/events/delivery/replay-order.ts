import type { JsonObject } from '../../domain/json.js';
import type { LogSelection } from '../log/log-reader.js';

/** The parameters of a replay, stored with its consumer as JSON. */
export interface ReplayOrder {
  /** The handler's original name: part of the keys of its actions. */
  readonly identity: string;
  /** Part of the keys if actions are to be repeated; undefined: actions return their first results. */
  readonly again: string | undefined;
  /** True: the handler's projection is rebuilt, and replaced at the end. Default false. */
  readonly rebuild?: boolean | undefined;
  readonly selection: Pick<LogSelection, 'model' | 'fromPosition' | 'fromDate' | 'until'>;
}

/** Reads an order as it is stored. */
export function readReplay({ identity, again, rebuild, ...selection }: JsonObject): ReplayOrder {
  const present = Object.entries(selection).filter(([, value]) => value !== null);
  return {
    identity: String(identity),
    again: typeof again === 'string' ? again : undefined,
    rebuild: rebuild === true,
    // `writeReplay` has made it from a selection.
    selection: Object.fromEntries(present) as ReplayOrder['selection'],
  };
}

/** The JSON of an order; absent parts are left out. */
export function writeReplay({ selection, ...order }: ReplayOrder): string {
  return JSON.stringify({ ...order, ...selection });
}
