import { context, type SpanContext, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

/** Registers an SDK that keeps the ended spans. Call `off` after the test. */
export function traceInMemory(sampler?: Sampler): { spans: () => readonly ReadableSpan[]; off: () => void } {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  new NodeTracerProvider({ spanProcessors, ...(sampler === undefined ? {} : { sampler }) }).register();
  return { spans: () => exporter.getFinishedSpans(), off: traceOff };
}

export function traceOff(): void {
  trace.disable();
  context.disable();
}

/** A trace as text: one line per span, in order of their starts, indented by parent. */
export function drawn(spans: readonly ReadableSpan[], traceId: string): string {
  const own = spans.filter((span) => span.spanContext().traceId === traceId);
  const ids = new Set(own.map((span) => span.spanContext().spanId));
  const childrenOf = (id: string | undefined): readonly ReadableSpan[] =>
    own
      .filter(({ parentSpanContext: parent }) =>
        id === undefined ? parent === undefined || !ids.has(parent.spanId) : parent?.spanId === id,
      )
      .sort((one, other) => startUs(one) - startUs(other));
  const lines = (span: ReadableSpan, depth: number): readonly string[] => [
    `${'  '.repeat(depth)}${title(span)}`,
    ...childrenOf(span.spanContext().spanId).flatMap((child) => lines(child, depth + 1)),
  ];
  return childrenOf(undefined)
    .flatMap((root) => lines(root, 0))
    .join('\n');
}

function startUs({ startTime: [seconds, nanoseconds] }: ReadableSpan): number {
  return seconds * 1e6 + nanoseconds / 1e3;
}

function title({ name, attributes }: ReadableSpan): string {
  const shard = attributes['fw.shard'];
  return shard === undefined ? name : `${name} @${String(shard)}`;
}

export function linkedTo({ links }: ReadableSpan): readonly SpanContext[] {
  return links.map((link) => link.context);
}
