import type { Uuid } from 'fw-actions';

/**
 * One thing that a customer wants done once. Each has a mark of its own that its effects carry (an amount or an owner
 * that no other request has), so that the rows identify it without asking the runtime.
 */
export type WalletRequest = {
  readonly number: number;
  /** Set: the customer may send it again and again. */
  readonly key: string | undefined;
} & (
  | {
      readonly kind: 'create';
      readonly country: string;
      readonly ownerId: Uuid;
      readonly initialBalance: string;
    }
  | { readonly kind: 'deposit' | 'withdraw'; readonly walletId: string; readonly amount: string }
  | { readonly kind: 'transfer'; readonly sourceId: string; readonly destId: string; readonly amount: string }
);

/** The answer to a customer. */
export type Answer =
  | { readonly kind: 'acknowledged'; readonly result: WalletFacts | undefined }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** Its outcome could not be found out in time. */
  | { readonly kind: 'unknown'; readonly actionId: string }
  /** Some shard transactions of a transfer are committed. */
  | { readonly kind: 'partial'; readonly committed: readonly string[]; readonly failed: FailedPart };

/** The shard transaction that a cross-shard transfer failed at. */
export interface FailedPart {
  readonly actionId: string;
  readonly unknown: boolean;
}

/** What an answer with a wallet says, as plain data. */
export interface WalletFacts {
  readonly id: string;
  readonly version: number;
  readonly balance: string;
  readonly ownerId: string;
  readonly state: string;
}

/** One execution of a request. */
export interface Call {
  readonly request: WalletRequest;
  readonly answer: Answer;
  readonly durationMs: number;
  /** Ids of all action rows that were tried. */
  readonly tried: readonly string[];
  /** Those of the attempt that was applied. */
  readonly applied: readonly string[];
  readonly replayed: boolean;
}

export type Resolution = 'committed' | 'void' | 'unknown';

/** Everything that happened, as the customers saw it. */
export class History {
  readonly calls: Call[] = [];
  /** What `outcomeOf` said about each attempt of unknown outcome, in order. */
  readonly resolutions: Map<string, Resolution[]> = new Map();

  resolved(actionId: string, resolution: Resolution): void {
    const known = this.resolutions.get(actionId);
    if (known === undefined) this.resolutions.set(actionId, [resolution]);
    else known.push(resolution);
  }

  /** Attempts whose outcome the customers do not know yet. */
  get unresolved(): readonly string[] {
    return this.calls
      .flatMap(({ answer }) => unknownOf(answer))
      .filter((id) => this.resolutionOf(id) === 'unknown');
  }

  resolutionOf(actionId: string): Resolution {
    return this.resolutions.get(actionId)?.at(-1) ?? 'unknown';
  }
}

/** The attempt of unknown outcome that an answer names, if any. */
export function unknownOf(answer: Answer): readonly string[] {
  if (answer.kind === 'unknown') return [answer.actionId];
  return answer.kind === 'partial' && answer.failed.unknown ? [answer.failed.actionId] : [];
}
