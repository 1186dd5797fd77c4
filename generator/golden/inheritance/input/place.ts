export interface Place {
  readonly street: string;
}
