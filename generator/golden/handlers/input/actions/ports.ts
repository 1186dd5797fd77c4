export interface TaxTable {
  rateOf(country: string): number;
}

export default interface Mailer {
  send(text: string): void;
}
