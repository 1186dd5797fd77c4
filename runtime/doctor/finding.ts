/** `fault`: something does not work or is unsafe. `warning`: it works, but needs an operator's attention. */
export type FindingLevel = 'ok' | 'warning' | 'fault';

/** The result of one check. */
export interface Finding {
  /** `(group, member)`, or the address of a server. */
  readonly subject: string;
  readonly check: string;
  readonly level: FindingLevel;
  /** The finding. Never contains a password. */
  readonly found: string;
  /** How to fix it; '' if nothing is to be done. */
  readonly advice: string;
}

/** A result without its subject. */
export type CheckResult = Omit<Finding, 'subject'>;

export function ok(check: string, found: string): CheckResult {
  return { check, level: 'ok', found, advice: '' };
}

export function warning(check: string, found: string, advice: string): CheckResult {
  return { check, level: 'warning', found, advice };
}

export function fault(check: string, found: string, advice: string): CheckResult {
  return { check, level: 'fault', found, advice };
}
