/** Methods of a date that would change it. `constructor` stays `Date`: libraries make their copies with it. */
const FROZEN: object = Object.create(
  Date.prototype,
  Object.fromEntries(
    Object.getOwnPropertyNames(Date.prototype)
      .filter((name) => name.startsWith('set'))
      .map((name) => [name, { value: refuse }]),
  ),
);

function refuse(): never {
  throw new TypeError('A date of a model cannot be changed: change a copy, made by new Date(date)');
}

/** Lets a date that nothing else refers to throw a TypeError where it would change. `Object.freeze` does not. */
export function freezeDate(date: Date): Date {
  return Object.setPrototypeOf(date, FROZEN) as Date;
}

/** A frozen date with the same time: the date itself if it is frozen. */
export function frozenDate(date: Date): Date {
  return Object.getPrototypeOf(date) === FROZEN ? date : freezeDate(new Date(date));
}
