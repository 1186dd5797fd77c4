import { writeOrLose } from '../../observability/logger.js';

/** The parts of its process that a running server uses. Tests replace them. */
export interface ProcessPort {
  stdout(text: string): void;
  stderr(text: string): void;
  exit(code: number): never;
  /** Calls back for SIGTERM and SIGINT. Returns a function that stops it. */
  onSignal(listener: (signal: 'SIGTERM' | 'SIGINT') => void): () => void;
  /** Calls back for SIGHUP. Returns a function that stops it. */
  onHangup(listener: () => void): () => void;
  /** Calls back for uncaught errors and unhandled rejections; `fatal` if the state of the process is in doubt. */
  onUncaught(listener: (error: unknown, fatal: boolean) => void): () => void;
}

/** This process. */
export const systemProcess: ProcessPort = {
  stdout: (text) => writeOrLose(process.stdout, text),
  stderr: (text) => writeOrLose(process.stderr, text),
  exit: (code) => process.exit(code),
  onSignal: (listener) => {
    process.on('SIGTERM', listener).on('SIGINT', listener);
    return () => void process.off('SIGTERM', listener).off('SIGINT', listener);
  },
  onHangup: (listener) => {
    process.on('SIGHUP', listener);
    return () => void process.off('SIGHUP', listener);
  },
  onUncaught: (listener) => {
    const onException = (error: unknown): void => listener(error, true);
    const onRejection = (error: unknown): void => listener(error, false);
    process.on('uncaughtException', onException).on('unhandledRejection', onRejection);
    return () => void process.off('uncaughtException', onException).off('unhandledRejection', onRejection);
  },
};
