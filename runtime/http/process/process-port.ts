import type { EventEmitter } from 'node:events';
import { writeOrLose } from '../../observability/logger.js';

/** A signal, or an error that no code has caught. */
export type ProcessEvent = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'uncaughtException' | 'unhandledRejection';

/** The parts of its process that a running server uses. Tests replace them. */
export interface ProcessPort {
  stdout(text: string): void;
  stderr(text: string): void;
  exit(code: number): never;
  /** Calls back for an event, with the error if it is one. Returns a function that stops it. */
  on(event: ProcessEvent, listener: (error: unknown) => void): () => void;
}

const events: EventEmitter = process;

/** This process. */
export const systemProcess: ProcessPort = {
  stdout: (text) => writeOrLose(process.stdout, text),
  stderr: (text) => writeOrLose(process.stderr, text),
  exit: (code) => process.exit(code),
  on: (event, listener) => {
    events.on(event, listener);
    return () => void events.off(event, listener);
  },
};
