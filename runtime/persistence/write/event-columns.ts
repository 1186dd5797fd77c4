import { uuid7 } from '../../domain/id-source.js';
import {
  type ArrayValue,
  arrayLiteral,
  jsonArray,
  optionalElement,
  quoteElement,
  uuidArray,
} from '../codec/column-codec.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import type { PlanWrite } from './plan-write.js';

/** The outbox rows of one statement, as arrays in the order of the parameters of its text. */
export class EventColumns {
  readonly #catalog: EventCatalog;
  readonly #shardBits: number;
  readonly #numbers: string[] = [];
  readonly #ids: string[] = [];
  readonly #modelIds: string[] = [];
  readonly #modelNames: string[] = [];
  readonly #types: string[] = [];
  readonly #modelVersions: string[] = [];
  readonly #versions: string[] = [];
  readonly #traces: string[] = [];
  readonly #payloads: string[] = [];

  constructor(catalog: EventCatalog, shardBits: number) {
    this.#catalog = catalog;
    this.#shardBits = shardBits;
  }

  /** Adds the events of a plan. @param number of its action, from 1 */
  add({ items, traceContext }: PlanWrite, number: number): void {
    for (const item of items) {
      if (item.kind === 'expect') continue;
      for (const event of item.events) {
        const { name, version, writePayload } = this.#catalog.of(event);
        this.#numbers.push(String(number));
        this.#ids.push(uuid7.next(this.#shardBits));
        this.#modelIds.push(quoteElement(event.getModelId()));
        this.#modelNames.push(quoteElement(event.getModelName()));
        this.#types.push(quoteElement(name));
        this.#modelVersions.push(String(item.model.version));
        this.#versions.push(String(version));
        this.#traces.push(optionalElement(traceContext));
        this.#payloads.push(writePayload(event));
      }
    }
  }

  /** One array per column, and one JSON array of the payloads; none at all without events. */
  get values(): readonly ArrayValue[] {
    if (this.#payloads.length === 0) return [];
    const places = [this.#modelIds, this.#modelNames, this.#types];
    const facts = [this.#modelVersions, this.#versions, this.#traces];
    const literals = [...places, ...facts].map(arrayLiteral);
    return [arrayLiteral(this.#numbers), uuidArray(this.#ids), ...literals, jsonArray(this.#payloads)];
  }
}
