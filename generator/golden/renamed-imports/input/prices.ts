/** Not what the file exports under this name. */
interface Label {
  readonly cents: number;
}

export interface Price {
  readonly label: Label;
}

export type { Tag as Label } from './tags.js';
