/** Names of the rules that the checker verifies. */
export type Rule =
  | 'orphaned-event'
  | 'wrong-shard'
  | 'effect-without-action'
  | 'action-without-effect'
  | 'version-chain'
  | 'balance-chain'
  | 'balance-fold'
  | 'applied-twice'
  | 'acknowledged-and-lost'
  | 'refused-and-applied'
  | 'half-applied'
  | 'wrong-answer'
  | 'different-answers'
  | 'wrong-action-row'
  | 'unknown-action-row'
  | 'outcome-unresolved'
  | 'outcome-changed'
  | 'key-row'
  | 'journal-row'
  | 'sum-of-money'
  | 'unforeseen-error'
  | 'too-late';

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
}

export type Report = (rule: Rule, detail: string) => void;
