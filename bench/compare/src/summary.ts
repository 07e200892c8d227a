import type { Compared } from "./compare.ts";

export interface Sums {
  readonly scenarios: number;
  readonly different: number;
  readonly messages: number;
  readonly kills: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly repeats: readonly [models: number, real: number];
}

export function sumsOf(all: readonly Compared[]): Sums {
  const sum = (of: (each: Compared) => number): number => all.reduce((total, each) => total + of(each), 0);
  const ends: Record<string, number> = {};
  for (const each of all)
    for (const [place, count] of Object.entries(each.ends)) ends[place] = (ends[place] ?? 0) + count;
  return {
    scenarios: all.length,
    different: all.filter(({ differences }) => differences.length > 0).length,
    messages: sum(({ messages }) => messages),
    kills: sum(({ kills }) => kills),
    ends,
    repeats: [sum(({ repeats }) => repeats[0]), sum(({ repeats }) => repeats[1])],
  };
}

export function summary(figures: Sums & { readonly seconds: number; readonly load: number | undefined }): string {
  const { scenarios, different, messages, kills, ends, repeats, seconds, load } = figures;
  const lines = Object.entries(ends)
    .toSorted(([, a], [, b]) => b - a)
    .map(([place, count]) => `  ${place}: ${count}`);
  return [
    `${scenarios} scenarios, ${messages} messages, ${kills} kills, in ${Math.round(seconds)} s at a load of ${load?.toFixed(1)}.`,
    `${different} of them differ. Where messages ended:`,
    ...lines,
    `Came again: ${repeats[0]} in the models, ${repeats[1]} with the real parts.`,
  ].join("\n");
}
