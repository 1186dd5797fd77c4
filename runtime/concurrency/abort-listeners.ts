import { outside } from './outside.js';

interface Listening {
  readonly listeners: Set<() => void>;
  readonly notify: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `listener` when the signal is aborted; not if it is aborted already. All callbacks of one signal share one
 * listener, because Node.js warns of a leak above ten.
 *
 * @returns a function that removes the callback; may be called more than once
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, notify } = listening.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    signal.removeEventListener('abort', notify);
    listening.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Listening {
  const listeners = new Set<() => void>();
  const notify = (): void => {
    outside(() => {
      for (const listener of [...listeners]) listener();
    });
  };
  const started = { listeners, notify };
  listening.set(signal, started);
  signal.addEventListener('abort', notify, { once: true });
  return started;
}
