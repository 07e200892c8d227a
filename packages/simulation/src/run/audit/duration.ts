/** Of a duration as the draw writes it. */
export function millisecondsOf(duration: string | undefined): number | undefined {
  const digits = /^(\d+)ms$/.exec(duration ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}
