import { AssertionError } from 'node:assert';

/** Where a check was written down; it runs later, when nothing on the stack leads back there. */
export interface CallSite {
  readonly stack?: string;
}

/** The place that called the function that called this one. */
export function callSite(): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace(site, callSite);
  return site;
}

/** Runs a check; if it does not hold, its error points to the call site, without the frames of the test kit. */
export function checkFrom<T>(site: CallSite, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof AssertionError) error.stack = [headOf(error), ...framesOf(site)].join('\n');
    throw error;
  }
}

function headOf({ name, code, message }: AssertionError): string {
  return `${name} [${code}]: ${message}`;
}

function framesOf({ stack = '' }: CallSite): readonly string[] {
  const [, ...frames] = stack.split('\n');
  return frames.filter((frame) => !KIT_FRAME.test(frame));
}

const KIT_FRAME = /[/\\]testing[/\\](\w+-outcome|call-site)\.[jt]s/;
