/** Always the same numbers below `sides`, which look like none that anybody has chosen. */
export function dice(seed = 1): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % sides;
  };
}
