export namespace inner {
  export interface Deep {
    readonly depth: number;
  }
}
