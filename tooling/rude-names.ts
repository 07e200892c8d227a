/** Names that an id may be: what every object has, lists, functions and promises, what looks like a number, a truth or a date. @module */
export const RUDE_NAMES: readonly string[] = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ..."length name prototype arguments caller then catch finally toJSON default".split(" "),
  ..."kind type plugin options from to at id policy routes undefined null true".split(" "),
  ..."0 1 2 007 1e3 0x1 1. 1.5 4294967295 _ a-2 a.1 NO yes 2026-01-01".split(" "),
];
