import { posix } from 'node:path';
import { compareText } from '../diagnostics.js';
import { type Reference, referenceKey, type SourceLocation } from '../schema/location.js';
import { relativePath } from '../schema/paths.js';
import type { Emission } from './emission.js';
import { isReservedWord, quote } from './print/strings.js';

/** An entrance of the runtime that emitted code imports. */
export interface RuntimeModule {
  readonly module: string;
  /** Names that templates spell out. Something else of the same name gets another local name. */
  readonly spelled: ReadonlySet<string>;
}

/** The runtime of applications. */
const CODEGEN: RuntimeModule = {
  module: 'fw-actions/codegen',
  spelled: new Set(
    (
      'ApplicationDefinition ApplicationPart EventDescriptor INITIAL_VERSION ModelDescriptor ObjectType Repository ' +
      'column defineAction defineSaga joinParts modelKeys modelType namedFields objectType routesOf t wireActions'
    ).split(' '),
  ),
};

/** The runtime of clients. */
export const CLIENT: RuntimeModule = {
  module: 'fw-actions/client',
  spelled: new Set('CallOptions Client FollowOptions Reader call follow itemsOf'.split(' ')),
};

/** View of an import statement in `partials/imports.hbs`. */
export interface ImportView {
  /** Whether it imports types only. */
  readonly isType: boolean;
  /** Imported names: `Wallet, type WalletState as State`. */
  readonly names: string;
  /** Specifier, quoted. */
  readonly module: string;
}

interface Entry {
  readonly module: string;
  readonly name: string;
  readonly local: string;
  isType: boolean;
}

/** One emitted file: its imports and its own names, each unique, and what all files share. */
export class FileScope {
  readonly emission: Emission;
  readonly #folder: string;
  readonly #runtime: RuntimeModule;
  readonly #taken: Set<string>;
  /** By reference, see `referenceKey`. */
  readonly #entries = new Map<string, Entry>();

  /**
   * @param file path of the emitted file
   * @param taken names that the file itself declares or uses as globals
   * @param runtime Default: the runtime of applications
   */
  constructor(emission: Emission, file: string, taken: Iterable<string>, runtime: RuntimeModule = CODEGEN) {
    this.emission = emission;
    this.#folder = posix.dirname(file);
    this.#runtime = runtime;
    this.#taken = new Set([...runtime.spelled, ...taken]);
  }

  /** Returns the text, traced to the declaration that causes it. */
  at(location: SourceLocation, text: string): string {
    return this.emission.at(location, text);
  }

  /** Imports a value (a class). @returns its local name: its own, numbered if it is taken */
  value(reference: Reference): string {
    return this.#add(reference, false);
  }

  /** Imports a type. @returns its local name */
  type(reference: Reference): string {
    return this.#add(reference, true);
  }

  /** Imports a value of the runtime. */
  runtimeValue(name: string): string {
    return this.value({ kind: 'package', module: this.#runtime.module, name });
  }

  /** Imports a type of the runtime. */
  runtimeType(name: string): string {
    return this.type({ kind: 'package', module: this.#runtime.module, name });
  }

  /** Reserves a variable of the file. @returns `preferred`, numbered if it is taken or a reserved word */
  reserve(preferred: string): string {
    let name = preferred;
    for (let count = 2; this.#taken.has(name) || isReservedWord(name); count += 1)
      name = `${preferred}${count}`;
    this.#taken.add(name);
    return name;
  }

  /** Returns the import specifier of a project file, relative to the emitted file. */
  specifier(file: string): string {
    const path = relativePath(this.#folder, file.replace(/(\.d)?\.([cm]?)tsx?$/, '.$2js'));
    return path.startsWith('../') ? path : `./${path}`;
  }

  /** Returns the import statements: packages first, then files from the most distant folder to the nearest. */
  statements(): readonly ImportView[] {
    const byKey = new Map<string, Entry[]>();
    for (const entry of this.#entries.values()) {
      const key = sortKey(entry.module);
      const entries = byKey.get(key);
      if (entries === undefined) byKey.set(key, [entry]);
      else entries.push(entry);
    }
    return [...byKey.keys()].sort().map((key) => statement(key.slice(RANK_LENGTH), byKey.get(key) ?? []));
  }

  #add(reference: Reference, isType: boolean): string {
    const key = referenceKey(reference);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.isType &&= isType;
      return known.local;
    }
    const { name } = reference;
    const module = reference.kind === 'file' ? this.specifier(reference.file) : reference.module;
    const isSpelled = module === this.#runtime.module && this.#runtime.spelled.has(name);
    const local = isSpelled ? name : this.reserve(name === 'default' ? 'Default' : name);
    this.#entries.set(key, { module, name, local, isType });
    return local;
  }
}

/** The module behind one digit. */
const RANK_LENGTH = 1;

function sortKey(module: string): string {
  const rank = module.startsWith('../') ? 1 : module.startsWith('./') ? 2 : 0;
  return `${rank}${module}`;
}

function statement(module: string, entries: readonly Entry[]): ImportView {
  const isType = entries.every((entry) => entry.isType);
  const names = [...entries]
    .sort((a, b) => compareText(a.name, b.name))
    .map((entry) => {
      const binding = entry.name === entry.local ? entry.name : `${entry.name} as ${entry.local}`;
      return entry.isType && !isType ? `type ${binding}` : binding;
    });
  return { isType, names: names.join(', '), module: quote(module) };
}
