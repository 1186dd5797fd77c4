import type { ConfigNode, MapEntry, MapNode } from './config-node.js';
import { camelCase, childPath, inStyle, type KeyStyle, kebabCase } from './key-names.js';
import type {
  BooleanKey,
  ChoiceKey,
  ChoicesKey,
  DefaultedFolderKey,
  DefaultedIntegerKey,
  DefaultedTextKey,
  FolderKey,
  IntegerKey,
  JdbcUrlKey,
  Key,
  ListKey,
  SecretKey,
  SectionKey,
  TextKey,
  TextsKey,
} from './keys.js';
import type { Place } from './problems.js';
import {
  type Located,
  type ReadContext,
  readBoolean,
  readChoice,
  readChoices,
  readFolder,
  readInteger,
  readJdbcUrl,
  readSecret,
  readText,
  readTexts,
  shownNode,
} from './read-scalar.js';
import { didYouMean, editDistance } from './suggest.js';
import type { DatabaseUrl, Secret } from './types.js';

/** The keys of a section: those of a `SectionKey`, or of the items of a `ListKey`. */
type SectionShape = Pick<SectionKey, 'keys' | 'named'>;

/**
 * Reads one map by the description of its keys. Reports unknown and repeated keys when it is created, other problems
 * when a key is read. A key that is absent or invalid reads as its default or undefined.
 */
export class SectionReader {
  readonly context: ReadContext;
  /** Position of the section. */
  readonly place: Place;
  readonly #style: KeyStyle;
  readonly #shape: SectionShape;
  readonly #found = new Map<string, Located>();
  readonly #named: [name: string, located: Located][] = [];

  constructor(
    context: ReadContext,
    node: MapNode,
    shape: SectionShape,
    at: { place: Place; style: KeyStyle },
  ) {
    this.context = context;
    this.place = at.place;
    this.#style = at.style;
    this.#shape = shape;
    for (const entry of node.entries) this.#accept(entry);
  }

  /** The value of a key and its position, if present. */
  locate(key: Key): Located | undefined {
    return this.#found.get(key.name);
  }

  text(key: DefaultedTextKey): string;
  text(key: TextKey): string | undefined;
  text(key: TextKey): string | undefined {
    const located = this.#take(key);
    return (located && readText(this.context, key, located)) ?? key.default;
  }

  folder(key: DefaultedFolderKey): string;
  folder(key: FolderKey): string | undefined;
  folder(key: FolderKey): string | undefined {
    const located = this.#take(key) ?? defaultFolder(key, this.place);
    return located && (readFolder(this.context, key, located) ?? key.default);
  }

  integer(key: DefaultedIntegerKey): number;
  integer(key: IntegerKey): number | undefined;
  integer(key: IntegerKey): number | undefined {
    const located = this.#take(key);
    return (located && readInteger(this.context, key, located)) ?? key.default;
  }

  boolean(key: BooleanKey): boolean {
    const located = this.#take(key);
    return (located && readBoolean(this.context, key, located)) ?? key.default;
  }

  secret(key: SecretKey): Secret | undefined {
    const located = this.#take(key);
    return located && readSecret(this.context, key, located);
  }

  jdbcUrl(key: JdbcUrlKey): DatabaseUrl | undefined {
    const located = this.#take(key);
    return located && readJdbcUrl(this.context, located);
  }

  choice<Choice extends string>(key: ChoiceKey<Choice>): Choice {
    const located = this.#take(key);
    return (located && readChoice(this.context, key, located)) ?? key.default;
  }

  choices<Choice extends string>(key: ChoicesKey<Choice>): readonly Choice[] {
    const located = this.#take(key);
    return located === undefined ? [] : readChoices(this.context, key, located);
  }

  texts(key: TextsKey): readonly string[] {
    const located = this.#take(key);
    return located === undefined ? [] : readTexts(this.context, key, located);
  }

  section(key: SectionKey): SectionReader | undefined {
    const located = this.#take(key);
    return located && this.#open(located, key);
  }

  /** The items of a list, without those that are not sections. */
  list(key: ListKey): readonly SectionReader[] {
    const located = this.#take(key);
    if (located === undefined) return [];
    const { node, place } = located;
    const { minimum, maximum } = key;
    const fits = node.kind === 'list' && node.items.length >= minimum && node.items.length <= maximum;
    if (!fits) {
      const found = node.kind === 'list' ? `a list of ${node.items.length}` : shownNode(node);
      this.context.problems.add(place, {
        message: `must be a list of ${minimum} to ${maximum} entries, found ${found}`,
      });
      return [];
    }
    return node.items
      .map((item, index) => ({ node: item, place: { path: `${place.path}[${index}]`, offset: item.offset } }))
      .map((item) => this.#open(item, key))
      .filter((item) => item !== undefined);
  }

  /** The named sections, by camelCase name. */
  named(): readonly [name: string, section: SectionReader][] {
    const { named } = this.#shape;
    if (named === undefined) return [];
    return this.#named.flatMap(([name, located]) => {
      const section = this.#open(located, named);
      return section === undefined ? [] : [[name, section] satisfies [string, SectionReader]];
    });
  }

  /** Reports a required key that is absent. */
  reportMissing(key: Key): void {
    const path = childPath(this.place.path, inStyle(key.name, this.#style));
    this.context.problems.add({ path, offset: this.place.offset }, { message: 'is missing' });
  }

  #take(key: Key): Located | undefined {
    const located = this.#found.get(key.name);
    if (located === undefined && key.required === true) this.reportMissing(key);
    return located;
  }

  #open(located: Located, shape: SectionShape): SectionReader | undefined {
    const { node, place } = located;
    if (node.kind === 'map')
      return new SectionReader(this.context, node, shape, { place, style: this.#style });
    const wanted = 'must be a section (a map of keys and values)';
    this.context.problems.add(place, { message: `${wanted}, found ${shownSectionNode(node)}` });
    return undefined;
  }

  #accept(entry: MapEntry): void {
    const place: Place = { path: childPath(this.place.path, entry.key), offset: entry.keyOffset };
    const name = this.#nameOf(entry.key);
    if (name === undefined) {
      this.#reportUnknown(entry.key, place);
      return;
    }
    const located = { node: entry.value, place: { path: place.path, offset: entry.value.offset } };
    const isNamed = !this.#shape.keys.some((key) => key.name === name);
    const taken = isNamed ? this.#named.some(([other]) => other === name) : this.#found.has(name);
    if (taken) {
      const message = `the key ${inStyle(name, this.#style)} is given twice`;
      this.context.problems.add(place, { message, hint: 'kebab-case and camelCase name the same key' });
    } else if (!isNamed) {
      this.#found.set(name, located);
    } else if (this.#named.length === this.#shape.named?.maximum) {
      this.context.problems.add(place, {
        message: `more than ${this.#named.length} sections with custom names`,
      });
    } else {
      this.#named.push([name, located]);
    }
  }

  /** The camelCase name of a key in either spelling, or undefined if there is no such key. */
  #nameOf(key: string): string | undefined {
    const { keys, named } = this.#shape;
    const known = keys.find(({ name }) => key === name || key === kebabCase(name));
    if (known !== undefined) return known.name;
    if (named === undefined || !/^[a-z][A-Za-z0-9-]{0,63}$/.test(key)) return undefined;
    const name = camelCase(key);
    const proper = name.length > named.suffix.length && name.endsWith(named.suffix);
    const consistent = key === name || key === kebabCase(name);
    // A misspelled known name must not become a named section.
    const slip = keys.some((other) => editDistance(name, other.name) <= 2);
    return proper && consistent && !slip ? name : undefined;
  }

  #reportUnknown(key: string, place: Place): void {
    const { problems } = this.context;
    const message = 'unknown key';
    if (problems.full) {
      problems.add(place, { message });
      return;
    }
    const style = /^[a-z0-9]*[A-Z]/.test(key) ? 'camelCase' : this.#style;
    const candidates = this.#shape.keys.map(({ name }) => inStyle(name, style));
    problems.add(place, { message, hint: didYouMean(key, candidates) ?? known(candidates) });
  }
}

function known(candidates: readonly string[]): string {
  return candidates.length === 1
    ? `the only key here is ${candidates[0]}`
    : `known here: ${candidates.join(', ')}`;
}

function defaultFolder(key: FolderKey, place: Place): Located | undefined {
  if (key.default === undefined) return undefined;
  return { node: { kind: 'scalar', offset: place.offset, type: 'text', text: key.default }, place };
}

/** Describes the node without its value: in place of a section, a text may be a secret. */
function shownSectionNode(node: ConfigNode): string {
  if (node.kind === 'scalar' && (node.type === 'text' || node.type === 'number')) return `a ${node.type}`;
  return shownNode(node);
}
