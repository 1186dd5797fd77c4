import { dirname } from 'node:path';
import { ConfigurationError, type FwConfig, loadConfig } from '../../runtime/config/index.js';
import { formatDiagnostic } from '../diagnostics.js';
import { type GenerateResult, generate } from '../generate.js';
import { EXIT, type ExitCode, type Output } from './exit.js';

/** Runs `fw-gen generate`. */
export async function generateCommand(configFile: string, output: Output): Promise<ExitCode> {
  const started = performance.now();
  const config = readConfig(configFile, output);
  if (config === undefined) return EXIT.inputError;
  if (config.generator === undefined) {
    output.error(`${configFile}: fw.generator is missing; set its keys source, output and migrations.`);
    return EXIT.inputError;
  }
  const result = await generate({
    projectDirectory: dirname(config.file),
    ...config.generator,
    title: config.namespace,
  });
  return report(result, performance.now() - started, output);
}

function readConfig(file: string, output: Output): FwConfig | undefined {
  try {
    return loadConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    output.error(error.message);
    return undefined;
  }
}

function report({ diagnostics, changes }: GenerateResult, elapsedMs: number, output: Output): ExitCode {
  if (diagnostics.length > 0) {
    for (const each of diagnostics) output.error(formatDiagnostic(each));
    output.error(`\n${count(diagnostics.length, 'mistake')}, nothing written`);
    return EXIT.inputError;
  }
  const unchanged = changes.filter(({ kind }) => kind === 'unchanged').length;
  const removed = changes.filter(({ kind }) => kind === 'remove').length;
  const written = changes.length - unchanged - removed;
  const parts = [`${count(written, 'file')} written`, `${unchanged} unchanged`];
  if (removed > 0) parts.push(`${removed} removed`);
  output.info(`${parts.join(', ')}, ${Math.round(elapsedMs)} ms`);
  return EXIT.success;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
