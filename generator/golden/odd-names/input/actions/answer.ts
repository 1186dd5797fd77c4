/** An answer. */
export class Answer {
  readonly "a'b": string;

  constructor(text: string) {
    this["a'b"] = text;
  }

  static from(answer: Answer): Answer {
    return answer;
  }
}
