import { defined } from '../schema/defined.js';
import type { JsonValue, ResponseSchema, RouteSchema } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, located, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { type Expected, isWhole, readLiteral, TEXT } from './read-literal.js';
import { classOf, referenceToDeclaration, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { declaredName, hasKeyword, staticMember } from './syntax.js';
import { followLineage } from './types/lineage.js';
import { read, readClassFields, startReading } from './types/read-type.js';
import type { ReadType } from './types/type-results.js';
import { reportRefusal } from './unresolved.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** The maximum of Node's timers and buffers. */
const LARGEST_LIMIT = 2_147_483_647;

/** A whole number of at least 1. */
function limitOf(what: string): Expected<number> {
  return {
    isFit: (value) => isWhole(value, 1, LARGEST_LIMIT),
    problem: `is not ${what}`,
    hint: `Write a whole number from 1 to ${LARGEST_LIMIT}.`,
  };
}

const OPTIONS = {
  status: {
    isFit: (value: unknown): value is number => isWhole(value, 200, 299),
    problem: 'is not a success status',
    hint: 'Write a number from 200 to 299.',
  },
  // A class, which is no literal.
  response: undefined,
  location: TEXT,
  etag: TEXT,
  ifMatch: TEXT,
  feed: TEXT,
  bodyBytes: limitOf('a number of bytes'),
  timeoutMs: limitOf('a number of milliseconds'),
  summary: TEXT,
  tag: TEXT,
  example: { isFit: (value: unknown): value is JsonValue => value !== undefined, hint: 'Write any literal.' },
};

/**
 * Reads `@HttpRoute(method, path, options)`.
 *
 * @param result what the action returns
 * @returns undefined, after a report, if method or path is not a literal
 */
export function readRoute(
  context: ReadContext,
  decorator: ts.Decorator,
  result: ReadType,
): RouteSchema | undefined {
  const [methodNode, pathNode, optionsNode] = decoratorArguments(decorator);
  const method = METHODS.find((each) => each === textOf(context, methodNode));
  const path = textOf(context, pathNode);
  if (methodNode === undefined || method === undefined || pathNode === undefined || path === undefined) {
    const hint = `Write @HttpRoute('POST', '/things/{id}'). The method is one of ${METHODS.join(', ')}.`;
    return report(context, 'FWGEN002', decorator, '@HttpRoute needs a method and a path', hint);
  }
  const options = readOptions(context, optionsNode, OPTIONS);
  const { example, bodyBytes, timeoutMs, summary, tag } = options.values;
  const sized = options.nodes.get('bodyBytes');
  if (sized !== undefined && (method === 'GET' || method === 'DELETE')) {
    const message = `bodyBytes has no effect on ${method}: its parameters are in the path and the query`;
    report(context, 'FWGEN002', sized, message, 'Remove it, or use a method with a body.');
  }
  const responseNode = options.nodes.get('response');
  const response = responseNode && readResponse(context, responseNode, result);
  return defined({
    method,
    path,
    location: locationOf(pathNode),
    status: located(options, 'status'),
    response,
    responseLocation: responseNode && response && locationOf(responseNode),
    locationHeader: located(options, 'location'),
    etag: located(options, 'etag'),
    ifMatch: located(options, 'ifMatch'),
    feed: located(options, 'feed'),
    ...{ example, bodyBytes, timeoutMs, summary, tag },
  });
}

function textOf(context: ReadContext, node: ts.Node | undefined): string | undefined {
  const value = node === undefined ? undefined : readLiteral(context, node);
  return typeof value === 'string' ? value : undefined;
}

/** Reads the mapper class that an identifier refers to. */
function readResponse(context: ReadContext, node: ts.Node, result: ReadType): ResponseSchema | undefined {
  const declaration = ts.isIdentifier(node) ? classOf(resolveName(context, node)) : undefined;
  const name = declaration && declaredName(declaration);
  const mapper = declaration && mapperOf(context, declaration);
  if (
    declaration === undefined ||
    name === undefined ||
    mapper === undefined ||
    referenceToDeclaration(declaration)?.name !== name
  ) {
    return reportRefusal(context, {
      code: 'FWGEN026',
      node,
      subject: 'The response',
      message: `${node.getText()} is not an exported class of this project with a static method \`from\``,
      hint: 'Write `export class NameResponse { readonly name!: string; static from(named: { readonly name: string }): NameResponse { return named; } }`.',
    });
  }
  if (isAsync(mapper)) reportAsync(context, mapper, name);
  reportUntaken(context, mapper, name, result);
  const { description } = readDoc(declaration);
  const fields = readClassFields(context, declaration, 'response');
  return defined({ name, file: fileOf(declaration), description, fields });
}

/** Returns the static `from` of a response, or of its nearest base class. */
function mapperOf(context: ReadContext, node: ts.ClassDeclaration): ts.ClassElement | undefined {
  return followLineage(context, node)
    .classes.map((each) => staticMember(each, 'from'))
    .find((each) => each !== undefined);
}

/** Reports an asynchronous mapper, because a response is mapped synchronously. */
function reportAsync(context: ReadContext, mapper: ts.ClassElement, name: string): void {
  const message = `${name}.from returns a promise, but responses are mapped synchronously`;
  const hint = `Load the data in the action and pass it as the result: \`static from(result: Result): ${name}\`.`;
  report(context, 'FWGEN026', mapper, message, hint);
}

/** Reports a mapper that does not take the `null` or `undefined` that the action may return. */
function reportUntaken(
  context: ReadContext,
  mapper: ts.ClassElement,
  name: string,
  { nullable, optional }: ReadType,
): void {
  if (!nullable && !optional) return;
  const [param] = ts.isMethodDeclaration(mapper) ? mapper.parameters : [];
  // Without a declared type, TypeScript checks the generated call.
  if (param?.type === undefined || param.type.kind === ts.SyntaxKind.AnyKeyword) return;
  const taken = read(startReading(context, 'result'), param.type);
  if (taken.type.kind === 'json' || taken.type.kind === 'unsupported') return;
  const isOptional = taken.optional || param.questionToken !== undefined || param.initializer !== undefined;
  const missing = [nullable && !taken.nullable && 'null', optional && !isOptional && 'undefined'].filter(
    (each) => each !== false,
  );
  if (missing.length === 0) return;
  const absent = missing.join(' and ');
  const message = `${name}.from does not take ${absent}, which the action may return`;
  const hint = `Throw an error in the action instead (\`getById\` and \`getByKey\` do), or write \`${param.getText()} | ${missing.join(' | ')}\`.`;
  report(context, 'FWGEN026', param, message, hint);
}

function isAsync(member: ts.ClassElement): boolean {
  const made = ts.isPropertyDeclaration(member) ? member.initializer : member;
  if (made === undefined || !ts.isFunctionLike(made)) return false;
  return hasKeyword(made, ts.SyntaxKind.AsyncKeyword) || /^Promise(Like)?\b/.test(made.type?.getText() ?? '');
}
