/**
 * Takes away every way from a value to a function that compiles text, for the rest of the thread's life: whoever breaks
 * out of an expression finds no compiler. To be called when everything of our own is compiled.
 */
export function disarm(): void {
  for (const kind of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    Reflect.deleteProperty(Object.getPrototypeOf(kind) as object, "constructor");
  }
}
