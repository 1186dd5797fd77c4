import type { Uuid } from 'fw-actions';

/**
 * A request that a customer wants executed once. Its effects carry a unique mark (an amount or an owner that no other
 * request has), so that the rows identify them without the runtime.
 */
export type WalletRequest = {
  readonly number: number;
  /** If set, the customer may send the request repeatedly. */
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
  /** The outcome could not be determined in time. */
  | { readonly kind: 'unknown'; readonly actionId: string }
  /** Some shard transactions of a transfer are committed. */
  | { readonly kind: 'partial'; readonly committed: readonly string[]; readonly failed: FailedPart };

/** The shard transaction at which a cross-shard transfer failed. */
export interface FailedPart {
  readonly actionId: string;
  readonly unknown: boolean;
}

/** The content of an answer with a wallet, as plain data. */
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
  /** Ids of all action rows that the execution tried. */
  readonly tried: readonly string[];
  /** Ids of the action rows of the applied attempt. */
  readonly applied: readonly string[];
  readonly replayed: boolean;
}

export type Resolution = 'committed' | 'void' | 'unknown';

/** All calls and answers, as the customers saw them. */
export class History {
  readonly calls: Call[] = [];
  /** Results of `outcomeOf` for each attempt of unknown outcome, in order. */
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

/** The ids of unknown outcome that an answer names, if any. */
export function unknownOf(answer: Answer): readonly string[] {
  if (answer.kind === 'unknown') return [answer.actionId];
  return answer.kind === 'partial' && answer.failed.unknown ? [answer.failed.actionId] : [];
}
