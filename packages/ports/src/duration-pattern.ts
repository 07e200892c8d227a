/** Milliseconds of each unit that a duration may be written in. */
export const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration is rounded to milliseconds, so what is less than half of one beside a bound is within it. */
const ROUNDED_UP = 0.5;
const ROUNDED_DOWN = 0.499_999;

/**
 * A regular expression for the durations from `minMs` to `maxMs`, both included, for schemas that cannot count. It takes all
 * of them, and too many only within a tenth of a unit beside a bound, and of durations of several parts, whose sum it does
 * not know.
 */
export function durationPattern(minMs: number, maxMs: number): string {
  const units = Object.entries(UNITS);
  const single = units.flatMap(([unit, ms]) => {
    const amount = between((minMs - ROUNDED_UP) / ms, (maxMs + ROUNDED_DOWN) / ms);
    return amount === undefined ? [] : [`0*${amount}${unit}`];
  });
  const parts = units.map(([unit, ms]) => `0*\\d{1,${String(Math.floor(maxMs / ms)).length}}(?:\\.\\d+)?${unit}`);
  const nonzero = minMs > 0 ? "(?=.*[1-9])" : "";
  return `^${nonzero}(?:${single.join("|")}|(?:${parts.join("|")}){2,})$`;
}

/** Decimals, without leading zeros, whose tenths are from those of `low` to those of `high`. */
function between(low: number, high: number): string | undefined {
  const [least, most] = [Math.max(0, Math.floor(low * 10)), Math.floor(high * 10)];
  const [from, first] = [Math.floor(least / 10), least % 10];
  const [to, last] = [Math.floor(most / 10), most % 10];
  if (from === to) return first > last ? undefined : `${to}${tenths(first, last)}`;
  const inner = from + 1 <= to - 1 ? [`(?:${integers(from + 1, to - 1).join("|")})(?:\\.\\d+)?`] : [];
  return `(?:${[`${from}${tenths(first, 9)}`, ...inner, `${to}${tenths(0, last)}`].join("|")})`;
}

/** The digits behind the point, of which the first is from `first` to `last`. */
function tenths(first: number, last: number): string {
  const digits = `\\.${digit(first, last)}\\d*`;
  return first === 0 ? `(?:${digits})?` : digits;
}

/** Patterns of the whole numbers from `from` to `to`. */
function integers(from: number, to: number): readonly string[] {
  for (let size = 1; ; size *= 10) {
    // The most trailing digits that may be anything, beginning at `from`.
    const fits = from % (size * 10) === 0 && from + size * 10 - 1 <= to && from > 0;
    if (fits) continue;
    const lead = Math.floor(from / size);
    const end = Math.min(lead - (lead % 10) + 9, Math.floor((to + 1) / size) - 1);
    const upper = (end + 1) * size - 1;
    const head = lead < 10 ? "" : String(Math.floor(lead / 10));
    const free = String(size).length - 1;
    const own = `${head}${digit(lead % 10, end % 10)}${free === 0 ? "" : `\\d{${free}}`}`;
    return upper >= to ? [own] : [own, ...integers(upper + 1, to)];
  }
}

function digit(from: number, to: number): string {
  if (from === to) return String(from);
  return from === 0 && to === 9 ? "\\d" : `[${from}-${to}]`;
}
