import { FwAction, HttpRoute } from 'fw-actions';

type ClassDecorator = (target: abstract new (...args: never[]) => object) => void;

export const Command = (): ClassDecorator => (target) => {
  FwAction(target);
};

export function Get(path: `/${string}`): ClassDecorator {
  return HttpRoute('GET', path);
}

/** Another name of the decorator, which the generator follows. */
export const Renamed = FwAction;

export function Logged(target: abstract new (...args: never[]) => object): void {
  console.log(target.name);
}
