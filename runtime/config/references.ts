// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { resolve } from 'node:path';
import type { Mistake } from './problems.js';
import { readSmallFile } from './read-file.js';

/** Maximum text with replaced references, in UTF-16 code units. */
const MAXIMUM_LENGTH = 65_536;
/** Further mistakes of one value are not looked for. */
const MAXIMUM_MISTAKES = 10;
/** An escaped `${`, or a reference: its content, and `}` unless it is missing. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const UNCLOSED: Mistake = {
  message: 'a reference "${" has no closing "}"',
  hint: 'write $${ for a literal ${',
};
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A text whose references were replaced. */
export interface Expansion {
  readonly text: string;
  /** The references as messages may show them, such as `${DB_PASSWORD}`; empty if there were none. */
  readonly references: readonly string[];
  readonly mistakes: readonly Mistake[];
}

/** The sources of references. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder against which relative paths of `${file:...}` are resolved. */
  readonly baseDirectory: string;
}

type Lookup = { readonly text: string } | Mistake;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:path}` inside one value. It runs on values that YAML has already
 * parsed, so a variable cannot add a key or change the structure. Replaced text is not searched for further references.
 * `$${` is an escaped `${`.
 */
export class References {
  readonly #sources: ReferenceSources;
  readonly #files = new Map<string, Lookup>();

  constructor(sources: ReferenceSources) {
    this.#sources = sources;
  }

  expand(text: string): Expansion {
    const references: string[] = [];
    const mistakes: Mistake[] = [];
    let length = 0;
    const replace = (all: string, content: string | undefined, end: string): string => {
      if (content === undefined) return '${';
      if (length > MAXIMUM_LENGTH || mistakes.length > MAXIMUM_MISTAKES) return all;
      const found: Lookup = end === '' ? UNCLOSED : this.#lookUp(content);
      if (end !== '') references.push(displayed(content));
      if ('message' in found) mistakes.push(found);
      const replacement = 'text' in found ? found.text : all;
      length += replacement.length;
      return replacement;
    };
    const expanded = text.replace(REFERENCE, replace);
    if (references.length > 0 && expanded.length > MAXIMUM_LENGTH)
      mistakes.push({ message: `the value with its references is longer than ${MAXIMUM_LENGTH} characters` });
    return { text: expanded, references, mistakes };
  }

  #lookUp(content: string): Lookup {
    if (content.includes('${')) {
      return { message: 'a reference inside another reference is not supported' };
    }
    if (content.startsWith('file:')) return this.#file(content.slice('file:'.length));
    const separator = content.indexOf(':-');
    return separator === -1
      ? this.#variable(content, undefined)
      : this.#variable(content.slice(0, separator), content.slice(separator + 2));
  }

  #variable(name: string, fallback: string | undefined): Lookup {
    if (!NAME.test(name)) return malformed(name);
    const { env } = this.#sources;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (fallback !== undefined) return { text: value === undefined || value === '' ? fallback : value };
    if (value !== undefined) return { text: value };
    return { message: `the environment variable ${name} is not set`, unset: 'value' };
  }

  #file(path: string): Lookup {
    if (path === '')
      return { message: 'the path of the file is missing', hint: 'write ${file:/path/to/file}' };
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const content = readSmallFile(resolve(this.#sources.baseDirectory, path), MAXIMUM_LENGTH);
    const found: Lookup =
      'text' in content
        ? { text: content.text.replace(/\r?\n$/, '') }
        : { message: `the file ${JSON.stringify(path)} ${content.failure}`, unset: 'value' };
    this.#files.set(path, found);
    return found;
  }
}

/** A reference as a message may show it, without its default, which may be a secret. */
function displayed(content: string): string {
  const name = /^(file:.{1,200}|[A-Za-z_][A-Za-z0-9_]{0,100})/.exec(content)?.[0];
  return name === undefined ? '${...}' : `\${${name}}`;
}

function malformed(content: string): Mistake {
  const name = /^([A-Za-z_][A-Za-z0-9_]{0,100})[:?+=-]/.exec(content)?.[1];
  return name === undefined
    ? { message: 'a reference must be ${NAME}, ${NAME:-default} or ${file:/path}' }
    : {
        message: `the reference to ${name} is not of the form \${NAME} or \${NAME:-default}`,
        hint: `write a default as \${${name}:-default}`,
      };
}
