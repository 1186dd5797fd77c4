import type { ModelSchema } from '../schema/project-schema.js';

interface Remembered {
  readonly model: ModelSchema;
  readonly key: string;
  readonly text: string;
}

/** Texts of earlier runs with the model that gave each: a model that was not read again gives the same text. */
export class EmitMemory {
  readonly #texts = new Map<string, Remembered>();

  /** @param path of the emitted file @param key everything else that the text hangs on */
  textOf(path: string, model: ModelSchema, key: string, render: () => string): string {
    const known = this.#texts.get(path);
    if (known?.model === model && known.key === key) return known.text;
    const text = render();
    this.#texts.set(path, { model, key, text });
    return text;
  }
}
