/** A strict reader of the Prometheus text format: whatever a scraper might stumble over is an error here. @module */

/** Samples of a histogram are read one by one, as `name_bucket` with the label `le`, `name_sum` and `name_count`. */
export interface ParsedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\]|\\\\[\\\\n])+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|untyped|histogram)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.+)\\})? (-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|[+-]Inf|NaN)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,(?=.)|$)/;

export function parseExposition(text: string): ReadonlyMap<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line is not ended");
  const families = new Map<string, ParsedFamily>();
  const lines = text.slice(0, -1).split("\n");
  let current: { name: string; family: ParsedFamily } | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const help = HELP.exec(line);
    if (help !== null) {
      const [, name = "", words = ""] = help;
      const [, typed, type = ""] = TYPE.exec(lines[++at] ?? "") ?? [];
      if (typed !== name) throw new Error(`${name} has no type after its help`);
      if (families.has(name)) throw new Error(`${name} comes twice`);
      current = { name, family: { help: unescape(words), type, samples: [] } };
      families.set(name, current.family);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`not a line of the format: ${line}`);
    const [, name = "", labels = "", value = ""] = sample;
    if (current === undefined || !namesOf(current).includes(name)) throw new Error(`${name} stands outside its family`);
    const parsed = { name, labels: parseLabels(labels), value: parseValue(value) };
    const same = current.family.samples.some((one) => one.name === name && sameLabels(one.labels, parsed.labels));
    if (same) throw new Error(`a sample comes twice: ${line}`);
    current.family.samples.push(parsed);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function namesOf({ name, family }: { readonly name: string; readonly family: ParsedFamily }): readonly string[] {
  return family.type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** Bounds ascend to +Inf, counts never fall, the last one is the count; and there is a sum. */
function checkHistogram(name: string, { samples }: ParsedFamily): void {
  const groups = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  for (const [labels, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((bucket) => parseValue(bucket.labels["le"] ?? "NaN"));
    const counts = buckets.map(({ value }) => value);
    const value = (of: string) => group.find((sample) => sample.name === `${name}_${of}`)?.value;
    const distinct = new Set(bounds).size === bounds.length;
    const sound = ascends(bounds) && distinct && bounds.at(-1) === Infinity && ascends(counts);
    if (!sound || counts.at(-1) !== value("count") || value("sum") === undefined) {
      throw new Error(`not a histogram: ${name} ${labels}`);
    }
  }
}

function ascends(numbers: readonly number[]): boolean {
  return String(numbers.toSorted((a, b) => a - b)) === String(numbers);
}

function sameLabels(one: ParsedSample["labels"], other: ParsedSample["labels"]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== "";) {
    const [whole = "", name = "", value = ""] = LABEL.exec(rest) ?? [];
    if (whole === "") throw new Error(`not a set of labels: ${text}`);
    if (name in labels) throw new Error(`the label ${name} comes twice: ${text}`);
    labels[name] = unescape(value);
    rest = rest.slice(whole.length);
  }
  return labels;
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

function parseValue(text: string): number {
  if (text.endsWith("Inf")) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}
