import { outside } from '../concurrency/outside.js';

interface Listening {
  readonly listeners: Set<() => void>;
  readonly tell: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls back when the signal is aborted; never if it has been. However many ask for one signal, it has one listener:
 * Node takes more than ten for a leak and says so.
 *
 * @returns ends it; may be called more than once
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, tell } = listening.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    signal.removeEventListener('abort', tell);
    listening.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Listening {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    outside(() => {
      for (const listener of [...listeners]) listener();
    });
  };
  const started = { listeners, tell };
  listening.set(signal, started);
  signal.addEventListener('abort', tell, { once: true });
  return started;
}
