import { JsonView } from './json-view.js';
import { exampleOf, type FieldView, fieldsOf, typeText } from './schema-view.js';

/** The parts of an API document that the page shows. */
export interface ApiView {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Credentials, of which a caller needs one kind. Empty: none. */
  readonly credentials: readonly CredentialView[];
  readonly groups: readonly GroupView[];
}

/** One way to authenticate. */
export interface CredentialView {
  readonly name: string;
  /** The header that carries it, for examples. Undefined: it is not in a header. */
  readonly header: string | undefined;
  readonly description: string;
}

/** Operations under one heading. */
export interface GroupView {
  readonly name: string;
  readonly operations: readonly OperationView[];
}

export interface OperationView {
  /** Anchor of the page. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly ParameterView[];
  readonly body: readonly FieldView[];
  readonly requestExample: string | undefined;
  readonly responses: readonly ResponseView[];
  readonly responseFields: readonly FieldView[];
  readonly responseExample: string | undefined;
}

export interface ParameterView extends FieldView {
  readonly place: string;
  /** Values for examples, as texts: one for each item of a list. */
  readonly examples: readonly string[];
}

export interface ResponseView {
  readonly status: string;
  readonly description: string;
  readonly isSuccess: boolean;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Reads an OpenAPI 3.1 document. Leaves out missing or unsupported parts, so that a page with the rest can be shown.
 */
export function readOpenApi(document: object): ApiView {
  const root = new JsonView(document);
  const info = root.at('info');
  const groups = new Map<string, OperationView[]>();
  for (const { name } of root
    .at('tags')
    .items()
    .map((tag) => ({ name: tag.text('name') })))
    groups.set(name, []);
  for (const [path, item] of root.at('paths').entries()) {
    for (const method of METHODS) {
      const operation = item.at(method);
      if (!operation.exists) continue;
      const group = operation.at('tags').items()[0]?.text() ?? 'Operations';
      groups.set(group, [...(groups.get(group) ?? []), readOperation(method, path, operation)]);
    }
  }
  return {
    title: info.text('title'),
    version: info.text('version'),
    description: info.text('description'),
    credentials: root
      .at('components')
      .at('securitySchemes')
      .entries()
      .map(([name, scheme]) => readCredential(name, scheme)),
    groups: [...groups]
      .filter(([, operations]) => operations.length > 0)
      .map(([name, operations]) => ({ name, operations })),
  };
}

function readCredential(name: string, scheme: JsonView): CredentialView {
  const description = scheme.text('description');
  const kind = scheme.text('type');
  if (kind === 'mutualTLS')
    return { name, header: undefined, description: description || 'A client certificate of the connection.' };
  if (kind === 'apiKey' && scheme.text('in') === 'header')
    return { name, header: `${scheme.text('name')}: YOUR_KEY`, description };
  const isBearer = kind === 'oauth2' || kind === 'openIdConnect' || scheme.text('scheme') === 'bearer';
  return { name, header: isBearer ? 'Authorization: Bearer YOUR_TOKEN' : undefined, description };
}

function readOperation(method: string, path: string, operation: JsonView): OperationView {
  const requestBody = operation.at('requestBody').resolved().at('content').at('application/json');
  const responses = operation
    .at('responses')
    .entries()
    .map(([status, response]) => ({ status, response: response.resolved() }));
  const success = responses
    .find(({ status }) => status.startsWith('2'))
    ?.response.at('content')
    .at('application/json');
  const summary = operation.text('summary') || operation.text('operationId');
  const description = operation.text('description');
  return {
    id: operation.text('operationId') || `${method}-${path}`.replace(/\W+/g, '-'),
    method: method.toUpperCase(),
    path,
    summary,
    description: description === summary ? '' : description,
    parameters: operation
      .at('parameters')
      .items()
      .map((parameter) => readParameter(parameter.resolved())),
    body: requestBody.exists ? fieldsOf(requestBody.at('schema')) : [],
    requestExample: exampleText(requestBody),
    responses: responses.map(({ status, response }) => ({
      status,
      description: response.text('description'),
      isSuccess: status.startsWith('2'),
    })),
    responseFields: success?.exists === true ? fieldsOf(success.at('schema')) : [],
    responseExample: success === undefined ? undefined : exampleText(success),
  };
}

function readParameter(parameter: JsonView): ParameterView {
  const schema = parameter.at('schema').resolved();
  return {
    name: parameter.text('name'),
    place: parameter.text('in'),
    type: typeText(schema),
    required: parameter.at('required').value === true,
    description: parameter.text('description') || schema.text('description'),
    examples: [exampleOf(schema)].flat().map(String),
  };
}

function exampleText(content: JsonView): string | undefined {
  if (!content.exists) return undefined;
  const example = content.at('example');
  return JSON.stringify(example.exists ? example.value : exampleOf(content.at('schema')), null, 2);
}
