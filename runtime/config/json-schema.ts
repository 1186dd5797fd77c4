import * as catalogue from './key-catalogue.js';
import { kebabCase } from './key-names.js';
import type {
  BooleanKey,
  ChoicesKey,
  IntegerKey,
  Key,
  ListKey,
  NamedSections,
  SectionKey,
  TextsKey,
} from './keys.js';

/** A JSON Schema as plain data. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** Matches a value of any type: `${NAME}` is replaced before the type is checked. */
const REFERENCE: ConfigSchema = { $ref: '#/$defs/reference' };

/** The keys of one database occur in several sections, so they are one definition. */
const DATABASE_KEYS: readonly Key[] = catalogue.primaryConfig.keys;

/** The JSON Schema (2020-12) of `fw.config.yaml`, for editors. It contains the rules of the key list and no others. */
export function configSchema(): ConfigSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'fw.config.yaml',
    ...sectionSchema(catalogue.root),
    $defs: {
      database: mapSchema(DATABASE_KEYS, undefined),
      reference: {
        description: 'Taken from the environment or from a file.',
        type: 'string',
        pattern: '\\$\\{[^}]+\\}',
      },
    },
  };
}

function keySchema(key: Key): ConfigSchema {
  switch (key.kind) {
    case 'text':
      return { ...described(key), type: 'string', minLength: 1, maxLength: key.maximumLength };
    case 'secret':
      return {
        ...described(key),
        type: 'string',
        minLength: 1,
        maxLength: key.maximumLength,
        writeOnly: true,
      };
    case 'folder':
      return { ...described(key), type: 'string', minLength: 1 };
    case 'jdbc-url':
      return {
        ...described(key),
        anyOf: [{ type: 'string', pattern: '^jdbc:(postgresql|pglite):' }, REFERENCE],
      };
    case 'integer':
      return integerSchema(key);
    case 'boolean':
      return booleanSchema(key);
    case 'choice':
      return { ...described(key), anyOf: [{ enum: key.choices }, REFERENCE] };
    case 'choices':
      return choicesSchema(key);
    case 'texts':
      return textsSchema(key);
    case 'section':
      return { ...described(key), ...sectionSchema(key) };
    case 'list':
      return listSchema(key);
  }
}

function described(key: Key): ConfigSchema {
  const fallback = 'default' in key ? { default: key.default } : {};
  return { description: key.doc, ...fallback };
}

function integerSchema(key: IntegerKey): ConfigSchema {
  const { minimum, maximum } = key;
  return { ...described(key), anyOf: [{ type: 'integer', minimum, maximum }, REFERENCE] };
}

function booleanSchema(key: BooleanKey): ConfigSchema {
  return { ...described(key), anyOf: [{ type: 'boolean' }, REFERENCE] };
}

function choicesSchema(key: ChoicesKey): ConfigSchema {
  const items = { anyOf: [{ enum: key.choices }, REFERENCE] };
  return { ...described(key), type: 'array', uniqueItems: true, items };
}

function textsSchema(key: TextsKey): ConfigSchema {
  const items = { type: 'string', minLength: 1, maxLength: key.maximumLength };
  return { ...described(key), type: 'array', minItems: 1, maxItems: key.maximum, uniqueItems: true, items };
}

function listSchema(key: ListKey): ConfigSchema {
  const { minimum, maximum, keys } = key;
  const items = mapSchema(keys, undefined);
  return { ...described(key), type: 'array', minItems: minimum, maxItems: maximum, items };
}

function sectionSchema({ keys, named }: SectionKey): ConfigSchema {
  return keys === DATABASE_KEYS ? { $ref: '#/$defs/database' } : mapSchema(keys, named);
}

/** A map whose keys have two spellings; each file may use either. */
function mapSchema(keys: readonly Key[], named: NamedSections | undefined): ConfigSchema {
  const properties = keys.flatMap((key) =>
    spellings(key.name).map((name) => [name, keySchema(key)] as const),
  );
  const required = keys.filter((key) => key.required === true).map((key) => requiredSchema(key.name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(named === undefined ? {} : { patternProperties: namedSchema(named) }),
    ...(required.length === 0 ? {} : { allOf: required }),
    additionalProperties: false,
  };
}

function namedSchema(named: NamedSections): ConfigSchema {
  const [suffix, camel] = [`-${kebabCase(named.suffix).replace(/^-/, '')}`, named.suffix];
  return {
    [`(${suffix}|[a-z0-9]${camel})$`]: { description: named.doc, $ref: '#/$defs/database' },
  };
}

function requiredSchema(name: string): ConfigSchema {
  const choices = spellings(name).map((spelling) => ({ required: [spelling] }));
  return choices.length === 1 ? (choices[0] ?? {}) : { anyOf: choices };
}

function spellings(name: string): readonly string[] {
  return [...new Set([kebabCase(name), name])];
}
