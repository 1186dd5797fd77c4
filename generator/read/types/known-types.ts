import { ts } from '../compiler.js';
import { CLASS_HINTS } from './hints.js';
import { referenceToClass } from './model-classes.js';
import type { Asking, Reading } from './reading.js';
import { notPlain, plain, type ReadType, unsupported } from './type-results.js';

/** Converts a class of the language. @returns undefined for any other type */
export function libraryType({ reading, node }: Asking, type: ts.Type): ReadType | undefined {
  const symbol = type.getSymbol();
  const [declaration] = symbol?.declarations ?? [];
  if (symbol === undefined || declaration === undefined || !reading.context.checker.isLibrary(declaration))
    return undefined;
  if (symbol.name === 'Date') return plain({ kind: 'instant' });
  const hint = CLASS_HINTS.get(symbol.name);
  return hint === undefined ? undefined : notPlain(node, hint);
}

type Convert = (asking: Asking, type: ts.Type) => ReadType;

/** Converts a type of this package. @returns undefined for any other type */
export function frameworkType(asking: Asking, type: ts.Type, convert: Convert): ReadType | undefined {
  const { aliasSymbol, aliasTypeArguments: [argument] = [] } = type;
  if (aliasSymbol?.name === 'Default' && argument !== undefined && isOurs(asking.reading, aliasSymbol))
    return { ...convert(asking, argument), optional: true };
  if (type.isUnion()) return isJson(asking, type) ? plain({ kind: 'json' }) : undefined;
  return type.isIntersection() ? markedType(asking, type, convert) : ownClass(asking, type);
}

/** Whether this package declares a symbol. */
function isOurs({ context }: Reading, symbol: ts.Symbol | undefined): symbol is ts.Symbol {
  return symbol?.declarations?.some((each) => context.checker.isFramework(each)) === true;
}

/** Whether a union is `JsonValue`, alone or with other members. */
function isJson(asking: Asking, { types }: ts.UnionType): boolean {
  return types.some(
    (each) => each.getStringIndexType() !== undefined && isOurs(asking.reading, each.getSymbol()),
  );
}

/** Converts a text or a default with the mark of this package. */
function markedType(asking: Asking, type: ts.IntersectionType, convert: Convert): ReadType | undefined {
  const mark = type
    .getProperties()
    .find((each) => each.name.startsWith('__@') && isOurs(asking.reading, each));
  if (mark === undefined) return undefined;
  if (mark.name.startsWith('__@ofDefault'))
    return { ...convert(asking, asking.checker.getTypeOfSymbol(mark)), optional: true };
  const kind = mark.name.startsWith('__@uuid') ? 'uuid' : 'currency';
  return plain(type.types.length > 2 ? { kind, brand: {} } : { kind });
}

function ownClass(asking: Asking, type: ts.Type): ReadType | undefined {
  const { checker, node, reading } = asking;
  const symbol = type.getSymbol();
  if (!isOurs(reading, symbol)) return undefined;
  const { name } = symbol;
  if (name === 'Decimal') return plain({ kind: 'decimal' });
  if (name !== 'Id' && name !== 'ShardedId') return undefined;
  const [argument] = checker.getTypeArguments(type as ts.TypeReference);
  const model = argument?.getSymbol()?.declarations?.find(ts.isClassDeclaration);
  return model === undefined || !reading.context.checker.isOwn(model)
    ? unsupported(node, idHint(name))
    : plain({ kind: 'id', model: referenceToClass(reading.context, model), sharded: name === 'ShardedId' });
}

/** What to write as the argument of an id. */
export function idHint(name: string): string {
  return `Name a model class that is imported by a relative path: \`${name}<Wallet>\`.`;
}
