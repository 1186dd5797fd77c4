export default interface Printer {
  print(text: string): void;
}

export interface Till {
  open(): void;
}

export declare namespace Shop {
  interface Drawer {
    close(): void;
  }
}
