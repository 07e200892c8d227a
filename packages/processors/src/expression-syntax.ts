import jsonata from "jsonata";

/** The longest expression that is taken, in characters. */
export const MAX_EXPRESSION = 10_000;

/** Says what is wrong with an expression; `undefined` when it can be compiled. */
export function syntaxProblem(text: string): string | undefined {
  try {
    jsonata(text);
    return undefined;
  } catch (thrown) {
    const { message, position } = thrown as { readonly message?: string; readonly position?: number };
    return `${message ?? "it cannot be read"}${position === undefined ? "" : ` at character ${position}`}`;
  }
}
