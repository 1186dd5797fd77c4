import { innerTypes } from '../../schema/fields.js';
import type { TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { resolveName } from '../resolver.js';
import { nameText } from '../syntax.js';
import type { Reading } from './reading.js';

/** What to write instead of a class of the language that is no data. */
interface PlainForm {
  readonly words: string;
  /** @param item the plain form of the last type argument */
  readonly codeOf: (item: Code) => Code;
  readonly hasItem: boolean;
}

interface Code {
  readonly text: string;
  /** Whether `[]` may follow it. */
  readonly isBare: boolean;
}

const bare = (text: string): Code => ({ text, isBare: true });

const enclosed = ({ text, isBare }: Code): string => (isBare ? text : `(${text})`);

const fixed = (text: string, words: string): PlainForm => ({
  words,
  codeOf: () => bare(text),
  hasItem: false,
});

const RECORD: PlainForm = {
  words: 'a record of plain data',
  codeOf: ({ text }) => bare(`Record<string, ${text}>`),
  hasItem: true,
};
const LIST: PlainForm = {
  words: 'a list of plain data',
  codeOf: (item) => ({ text: `readonly ${enclosed(item)}[]`, isBare: false }),
  hasItem: true,
};
const TEXT = fixed('string', 'a string');

const PLAIN_FORMS: ReadonlyMap<string, PlainForm> = new Map([
  ['Map', RECORD],
  ['ReadonlyMap', RECORD],
  ['WeakMap', RECORD],
  ['Set', LIST],
  ['ReadonlySet', LIST],
  ['WeakSet', LIST],
  ['Uint8Array', TEXT],
  ['Buffer', TEXT],
  ['URL', TEXT],
  ['RegExp', TEXT],
  ['Error', TEXT],
  ['Object', fixed('JsonValue', 'a JSON value')],
  ['Promise', { words: 'its value', codeOf: (item) => item, hasItem: true }],
]);

/**
 * Returns the hint for a class of the language that is no data, with code only if that would be accepted.
 *
 * @param node the type that the code replaces
 */
export function plainHint(reading: Reading, name: string, node: ts.Node): string | undefined {
  const form = PLAIN_FORMS.get(name);
  if (form === undefined) return undefined;
  const code = ts.isTypeNode(node) && mentionsClass(reading, node) ? plainCode(reading, node) : undefined;
  if (code === undefined) return `Use plain data: ${form.words} instead of ${name}.`;
  return `Use plain data: \`${ts.isArrayTypeNode(node.parent) ? enclosed(code) : code.text}\`.`;
}

/** Whether a node is, or contains, the name of a class that has a plain form. */
function mentionsClass(reading: Reading, node: ts.Node): boolean {
  if (formOf(reading, node) !== undefined) return true;
  return ts.forEachChild(node, (child) => mentionsClass(reading, child) || undefined) === true;
}

function formOf({ context }: Reading, node: ts.Node): PlainForm | undefined {
  const name = ts.isTypeReferenceNode(node) ? nameText(node.typeName) : '';
  const form = PLAIN_FORMS.get(name);
  return form !== undefined && resolveName(context, node.getSourceFile(), name).kind === 'global'
    ? form
    : undefined;
}

/** Returns a type with the plain forms of the classes in it. @returns undefined if any other part is no data */
function plainCode(reading: Reading, node: ts.TypeNode): Code | undefined {
  const form = formOf(reading, node);
  if (form === undefined)
    return mentionsClass(reading, node) ? plainParts(reading, node) : dataCode(reading, node);
  if (!form.hasItem) return form.codeOf(bare(''));
  const item = ts.isTypeReferenceNode(node) ? node.typeArguments?.at(-1) : undefined;
  if (item === undefined || (form === LIST && reading.read(reading, item).optional)) return undefined;
  const code = plainCode(reading, item);
  return code && form.codeOf(code);
}

function dataCode(reading: Reading, node: ts.TypeNode): Code | undefined {
  if (!isData(reading.read(reading, node).type)) return undefined;
  return { text: node.getText(), isBare: ts.isTypeReferenceNode(node) || ts.isToken(node) };
}

function isData(type: TypeSchema): boolean {
  const isRefused = type.kind === 'unsupported' || type.kind === 'void' || type.kind === 'model';
  return !isRefused && innerTypes(type).every(isData);
}

/** Types of the language that are what their arguments are. */
const TRANSPARENT: readonly string[] = [
  'Array',
  'Partial',
  'Readonly',
  'ReadonlyArray',
  'Record',
  'Required',
];

/** Replaces the parts of a list, record, object or union in its text. */
function plainParts(reading: Reading, node: ts.TypeNode): Code | undefined {
  const parts = partsOf(node);
  let text = node.getText();
  for (const part of (parts ?? []).toReversed()) {
    const code = plainCode(reading, part);
    if (code === undefined) return undefined;
    const start = part.getStart() - node.getStart();
    const replaced = ts.isArrayTypeNode(node) ? enclosed(code) : code.text;
    text = `${text.slice(0, start)}${replaced}${text.slice(start + part.getWidth())}`;
  }
  return parts && { text, isBare: ts.isTypeReferenceNode(node) };
}

function partsOf(node: ts.TypeNode): readonly ts.TypeNode[] | undefined {
  if (ts.isArrayTypeNode(node)) return [node.elementType];
  if (ts.isUnionTypeNode(node)) return node.types.filter((each) => each.getText() !== 'null');
  if (ts.isParenthesizedTypeNode(node)) return [node.type];
  if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword) return [node.type];
  if (ts.isTypeReferenceNode(node))
    return TRANSPARENT.includes(nameText(node.typeName)) ? node.typeArguments : undefined;
  if (!ts.isTypeLiteralNode(node)) return undefined;
  const types = node.members.map((member) => (ts.isPropertySignature(member) ? member.type : undefined));
  return types.every((each) => each !== undefined) ? types : undefined;
}
