import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Link } from './link.js';
import type { ActionRow, PlanWrite } from './plan-write.js';

/** A row that a plan touches. */
export interface Touch {
  /** `model/id`. */
  readonly key: string;
  readonly kind: 'add' | 'update' | 'expect';
  /** Version that the row must have; 0 for an insert. */
  readonly from: number;
  /** Version that the row has afterwards. */
  readonly to: number;
  /** Whether several changes of such a row may be folded into one statement. */
  readonly foldable: boolean;
}

/** A plan in a writer's queue. */
export interface QueuedPlan {
  readonly plan: PlanWrite;
  readonly touches: readonly Touch[];
  readonly link: Link;
  /** Links whose staged state the plan has read. It is applied only together with them or after them. */
  readonly restsOn: readonly Link[];
  /** `performance.now()` by which the outcome must be known. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly queuedMs: number;
  /** Its deadline passed while it was in flight, and its execution has been told so. */
  expired: boolean;
  /** The action row that decides about the statement under way, if there is one. */
  sentUnder: ActionRow | undefined;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of a plan, told to its execution. */
export type WriteOutcome =
  | {
      readonly kind: 'applied';
      /** Plans in the statement that applied it. */
      readonly batchSize: number;
      /** Plans that were folded into one with it, itself included. */
      readonly chainLength: number;
      /** From joining the queue to being sent, in milliseconds. */
      readonly queuedMs: number;
      /** It was left out once, and applied when it waited: somebody else had locked one of its rows. */
      readonly contended: boolean;
    }
  /** A version no longer matched. */
  | { readonly kind: 'stale' }
  /** A link that the plan rested on has failed; with fresh reads it may succeed. */
  | { readonly kind: 'broken' };

/** Rows that a plan touches, in staging order. Whether they may be folded is asked only where they meet. */
export function touchesOf(
  { items }: PlanWrite,
  isFoldable: (model: ModelDescriptor) => boolean,
): readonly Touch[] {
  return items.map((item) => ({
    key: `${item.descriptor.name}/${item.model.id.getValue()}`,
    kind: item.kind,
    from: item.kind === 'add' ? 0 : item.expectedVersion,
    to: item.model.version,
    get foldable(): boolean {
      return isFoldable(item.descriptor);
    },
  }));
}
