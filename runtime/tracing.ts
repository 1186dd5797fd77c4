import {
  type Attributes,
  type Context,
  context,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

export type { Span };

/** Attributes of spans of statements. */
export const DATABASE: Attributes = Object.freeze({ 'db.system.name': 'postgresql' });

const NAME = 'fw-actions';

let provider: object | undefined;
let ofProvider: Tracer | undefined;

/**
 * The tracer of the SDK that the application has registered. Undefined without one: then no function of this module
 * creates anything. An application may register its SDK at any time.
 */
function tracer(): Tracer | undefined {
  const given = trace.getTracerProvider();
  const proxy = 'getDelegateTracer' in given ? (given as ProxyTracerProvider) : undefined;
  const present = proxy === undefined ? given : proxy.getDelegate();
  if (present !== provider) {
    provider = present;
    ofProvider = proxy === undefined ? given.getTracer(NAME) : proxy.getDelegateTracer(NAME);
  }
  return ofProvider;
}

/** Whether the application has registered an SDK. */
export function isTracing(): boolean {
  return tracer() !== undefined;
}

export interface SpanStart {
  readonly kind?: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** W3C `traceparent` of the cause. It is the parent unless a span of its trace is active. Default: the active span. */
  readonly traceContext?: string | undefined;
}

/** Starts a span that others may continue, even if it is not sampled. Undefined without an SDK. */
export function startSpan(name: string, start: SpanStart = {}): Span | undefined {
  return tracer()?.startSpan(name, optionsOf(start), parentOf(start.traceContext, context.active()));
}

/** Starts a span of work that an event has caused. The span that happens to be active is not its parent. */
export function startCaused(name: string, start: SpanStart): Span | undefined {
  return tracer()?.startSpan(name, optionsOf(start), parentOf(start.traceContext, ROOT_CONTEXT));
}

/** Starts a span within another one. Undefined if there is none, or if it is not sampled. */
export function startInner(
  parent: Span | undefined,
  name: string,
  attributes: Attributes = {},
): Span | undefined {
  if (parent?.isRecording() !== true) return undefined;
  return tracer()?.startSpan(name, { attributes }, trace.setSpan(context.active(), parent));
}

/** A span within another one that starts when it is first asked for. */
export class LateSpan {
  readonly #parent: Span;
  readonly #name: string;
  #span: Span | undefined;

  constructor(parent: Span, name: string) {
    this.#parent = parent;
    this.#name = name;
  }

  /** Undefined if the parent is not sampled. */
  get started(): Span | undefined {
    this.#span ??= startInner(this.#parent, this.#name);
    return this.#span;
  }

  /** Ends the span if it has started. */
  end(error?: unknown): void {
    endSpan(this.#span, error);
  }
}

/**
 * Starts the span of a statement or a batch. With one cause it is the child of that. With several it has a trace of its
 * own, linked to all of them, and they are linked to it. Undefined if no cause is sampled.
 */
export function startShared(
  name: string,
  causes: Iterable<Span | undefined>,
  start: SpanStart = {},
): Span | undefined {
  const active = tracer();
  if (active === undefined) return undefined;
  const sampled = new Set<Span>();
  for (const cause of causes) if (cause !== undefined && isSampled(cause)) sampled.add(cause);
  const [first] = sampled;
  if (first === undefined) return undefined;
  if (sampled.size === 1) return active.startSpan(name, optionsOf(start), trace.setSpan(ROOT_CONTEXT, first));
  const links = [...sampled].map((cause) => ({ context: cause.spanContext() }));
  const shared = active.startSpan(name, { ...optionsOf(start), links }, ROOT_CONTEXT);
  const link = { context: shared.spanContext() };
  for (const cause of sampled) cause.addLink(link);
  return shared;
}

function optionsOf({ kind = 'INTERNAL', attributes = {} }: SpanStart): SpanOptions {
  return { kind: SpanKind[kind], attributes };
}

function parentOf(traceContext: string | undefined, active: Context): Context {
  if (traceContext === undefined) return active;
  const remote = remoteSpan(traceContext).spanContext();
  if (trace.getSpanContext(active)?.traceId === remote.traceId) return active;
  return trace.setSpanContext(active, remote);
}

/** The span of another process. @param traceContext a valid W3C `traceparent` */
export function remoteSpan(traceContext: string): Span {
  const [, traceId = '', spanId = '', flags = ''] = traceContext.split('-');
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.wrapSpanContext({ traceId, spanId, traceFlags, isRemote: true });
}

function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** The id of a span's trace. Undefined if it is not sampled: then nobody can look it up. */
export function sampledTraceId(span: Span | undefined): string | undefined {
  return span !== undefined && isSampled(span) ? span.spanContext().traceId : undefined;
}

/** The active span, if it is recorded. */
export function activeSpan(): Span | undefined {
  if (!isTracing()) return undefined;
  const span = trace.getActiveSpan();
  return span?.isRecording() === true ? span : undefined;
}

/** Whether a span is active, recorded or not. */
export function isInSpan(): boolean {
  return isTracing() && trace.getActiveSpan() !== undefined;
}

/** The W3C `traceparent` of a span. */
export function traceParentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

/** The ids of a span, or else of the caller's `traceparent`, as facts of a log entry. */
export function traceIds(span: Span | undefined, traceContext?: string): object {
  const known = span ?? (traceContext === undefined ? undefined : remoteSpan(traceContext));
  if (known === undefined) return {};
  const { traceId, spanId } = known.spanContext();
  return { traceId, spanId };
}

/** Runs `work` with the span active, and does not end the span. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : context.with(trace.setSpan(context.active(), span), work);
}

/** Runs `work` with the span active, and ends the span with it. */
export function during<T>(span: Span | undefined, work: () => T): T {
  if (span === undefined) return work();
  let result: T;
  try {
    result = within(span, work);
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
  if (result instanceof Promise) endWith(span, result);
  else span.end();
  return result;
}

/** Ends the span when the work has ended, before its caller continues. */
export function endWith<T>(span: Span, work: Promise<T>): Promise<T> {
  work.then(
    () => span.end(),
    (error: unknown) => endSpan(span, error),
  );
  return work;
}

/** Ends a span, unless it has ended. Messages of errors may have data of callers, so a span has their code only. */
export function endSpan(span: Span | undefined, error?: unknown): void {
  if (span?.isRecording() !== true) return;
  if (error !== undefined) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const type = typeof code === 'string' ? code : error instanceof Error ? error.name : '_OTHER';
    span.setAttribute('error.type', type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: type });
  }
  span.end();
}
