export interface Tag {
  readonly text: string;
}
