import { memoize } from '../../runtime/collections/memoize.js';
import { camelCase, kebabCase, pluralOf, snakeCase } from './naming.js';
import { type ModelSchema, storedNameOf } from './project-schema.js';

/** All names in generated code and tables that derive from a model. */
export interface ModelNames {
  /** `Wallet` */
  readonly model: string;
  /** `wallet`: the static method that starts a builder. */
  readonly variable: string;
  /** `walletModel` */
  readonly descriptor: string;
  /** `WalletBuilder` */
  readonly builder: string;
  /** `WalletField` */
  readonly field: string;
  /** `WalletTables` */
  readonly tables: string;
  /** `WalletRepository` */
  readonly repository: string;
  /** `WalletsTable` */
  readonly tableType: string;
  /** `wallets`, or the name in the decorator. */
  readonly table: string;
  /** `wallet`: the emitted file, without extension. */
  readonly file: string;
}

type Named = Pick<ModelSchema, 'name' | 'storedName' | 'table'>;

/** Returns all names of a model, derived from its class name and options. */
export const modelNames: (model: Named) => ModelNames = memoize(deriveNames);

function deriveNames(model: Named): ModelNames {
  const { name } = model;
  const variable = camelCase(name);
  return {
    model: name,
    variable,
    descriptor: `${variable}Model`,
    builder: `${name}Builder`,
    field: `${name}Field`,
    tables: `${name}Tables`,
    repository: `${name}Repository`,
    tableType: `${pluralOf(name)}Table`,
    table: model.table?.value ?? pluralOf(snakeCase(storedNameOf(model))),
    file: kebabCase(name),
  };
}

/** Members of every builder. A setter must not have one of these names. */
const BUILDER_MEMBERS: ReadonlySet<string> = new Set(
  'build put copyBase carryBase copyAll withEvent withInitialVersion instantiate setFields'.split(' '),
);

/** Returns the name of a field's setter: `title`; `withPut` for a field `put`, because builders have a member `put`. */
export function setterName(field: string): string {
  return BUILDER_MEMBERS.has(field) ? `with${field.charAt(0).toUpperCase()}${field.slice(1)}` : field;
}
