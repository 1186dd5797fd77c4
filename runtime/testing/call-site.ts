import { AssertionError } from 'node:assert';

/** The source position of a check, which runs later with another stack. */
export interface CallSite {
  readonly stack?: string;
}

/** The position of the call of the caller's function. */
export function callSite(): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace(site, callSite);
  return site;
}

/** Runs a check. If it fails, its error points to the call site, without the frames of the test kit. */
export function checkFrom<T>(site: CallSite, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof AssertionError) {
      const [, ...frames] = (site.stack ?? '').split('\n');
      const shown = frames.filter((frame) => !KIT_FRAME.test(frame));
      error.stack = [`${error.name} [${error.code}]: ${error.message}`, ...shown].join('\n');
    }
    throw error;
  }
}

const KIT_FRAME = /[/\\]testing[/\\](\w+-outcome|call-site)\.[jt]s/;
