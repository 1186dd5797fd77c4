import { Action, FwAction, HttpRoute, type Principal } from 'fw-actions';

export class Answer {
  constructor(readonly text = 'x') {}

  static from(text: string): Answer {
    return new Answer(text);
  }
}

@FwAction
@HttpRoute('POST', '/answers', { response: Answer })
export class AnswerAction extends Action<void, string> {
  protected perform(_principal: Principal): string {
    return 'x';
  }
}
