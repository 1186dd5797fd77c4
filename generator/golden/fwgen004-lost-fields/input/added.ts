export {};

declare module './thing.js' {
  interface Thing {
    readonly nickname: string;
    rename(): void;
  }
  interface ThingMadeEvent {
    greet(): string;
  }
}
