/** @throws Error that names the flag, what was given, and what it could be */
export function oneOf<Value extends string>(flag: string, text: string, values: readonly Value[]): Value {
  const value = values.find((each) => each === text);
  if (value !== undefined) return value;
  throw new Error(`--${flag}: "${text}" is none of ${values.join(", ")}`);
}

/** @throws Error when the text is not an integer, or a smaller one than `least` */
export function integerFrom(least: number, flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isInteger(number) && number >= least) return number;
  throw new Error(`--${flag}: "${text}" is not an integer of at least ${least}`);
}
