export default interface Address {
  readonly street: string;
}

export interface Country {
  readonly code: string;
}
