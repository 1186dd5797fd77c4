import { dirname, resolve } from 'node:path';
import { root } from './catalogue.js';
import type { ConfigNode } from './config-node.js';
import { ConfigurationError } from './configuration-error.js';
import { deepFreeze } from './deep-freeze.js';
import type { ReadContext } from './key.js';
import { Problems } from './problems.js';
import { readSmallFile } from './read-file.js';
import { References } from './references.js';
import type { FwConfig, ProjectConfig } from './types.js';
import { readYaml } from './yaml-source.js';
import { MAXIMUM_SIZE } from './yaml-syntax.js';

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and validates a configuration file.
 *
 * @param file path of the YAML file; relative paths in the file are resolved against its folder. Problems name the file
 *   as given here.
 * @param options.env the variables for `${NAME}`; by default the environment of this process
 * @param options.used the sections that the caller uses, `sharding` among them. Default: all. Elsewhere, unset variables
 *   and missing files are no problems: do not read these sections
 * @returns the configuration, deeply frozen
 * @throws ConfigurationError with all problems; no file or connection was opened
 */
export function loadConfig(
  file: string,
  options: { readonly env?: Environment; readonly used?: readonly string[] } = {},
): FwConfig {
  return parseConfig(textOf(file), { ...options, file });
}

/**
 * As {@link loadConfig}, for a machine without the application's environment: unset variables and missing files of
 * secrets and of unused values are no problems. Such a value is undefined or its default; do not read it.
 *
 * @param options.used the sections and values that the caller uses: `generator`, `http.contact`
 */
export function loadProjectConfig(
  file: string,
  options: { readonly used: readonly string[]; readonly env?: Environment },
): ProjectConfig {
  return parse(textOf(file), { ...options, file, withoutSecrets: true });
}

/** As {@link loadConfig}, for a text that was already read; `file` need not exist. */
export function parseConfig(
  text: string,
  options: { readonly file: string; readonly env?: Environment; readonly used?: readonly string[] },
): FwConfig {
  const config = parse(text, options);
  if (!isComplete(config)) throw unreported();
  return config;
}

function isComplete(config: ProjectConfig): config is FwConfig {
  return config.sharding !== undefined;
}

interface ParseOptions {
  readonly file: string;
  readonly env?: Environment | undefined;
  /** Default: every value is used. */
  readonly used?: readonly string[];
  /** Whether unset secrets are no problems, also in these sections. */
  readonly withoutSecrets?: boolean;
}

function parse(text: string, options: ParseOptions): ProjectConfig {
  const file = resolve(options.file);
  const problems = new Problems({ file: options.file, text });
  const baseDirectory = dirname(file);
  const references = new References({ env: options.env ?? process.env, baseDirectory });
  const node = readYaml(text, problems);
  const context: ReadContext = {
    problems,
    references,
    baseDirectory,
    claims: new Map(),
    style: 'kebab-case',
  };
  const config = node && readConfig(context, node, file);
  if (options.used !== undefined)
    problems.ignoreUnset(
      ['namespace', ...options.used].map((each) => `fw.${each}`),
      options.withoutSecrets === true,
    );
  problems.throwIfAny();
  if (config === undefined) throw unreported();
  return deepFreeze(config);
}

function unreported(): TypeError {
  return new TypeError('a configuration without a problem must have a result');
}

/** @throws ConfigurationError if it cannot be read */
function textOf(file: string): string {
  const content = readSmallFile(file, MAXIMUM_SIZE);
  if ('text' in content) return content.text;
  const place = { file, line: undefined, column: undefined, path: '' };
  throw new ConfigurationError([{ ...place, message: `the file ${content.failure}` }]);
}

function readConfig(context: ReadContext, node: ConfigNode, file: string): ProjectConfig | undefined {
  const place = { path: '', offset: node.offset };
  if (node.kind !== 'map') {
    const found =
      node.kind === 'scalar' && node.type === 'nothing' ? 'is empty' : 'must be a map of keys and values';
    context.problems.add(place, { message: `the file ${found}`, hint: 'its one key is fw' });
    return undefined;
  }
  const content = root.read({ node, place }, context);
  return content && { file, ...content.fw };
}
