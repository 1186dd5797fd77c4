export interface Mailer {
  send(): void;
}

export interface Printer {
  print(): void;
}
