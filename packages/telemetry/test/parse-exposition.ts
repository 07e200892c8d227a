/** A strict reader of the Prometheus text format: whatever a scraper might stumble over is an error here. @module */

export interface ParsedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\]|\\\\[\\\\n])+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|untyped)$`);
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
    const [, name, labels = "", value = ""] = sample;
    if (current === undefined || current.name !== name) throw new Error(`${name} stands outside its family`);
    const parsed = parseLabels(labels);
    const same = current.family.samples.some((one) => JSON.stringify(one.labels) === JSON.stringify(parsed));
    if (same) throw new Error(`a sample comes twice: ${line}`);
    current.family.samples.push({ labels: parsed, value: parseValue(value) });
  }
  return families;
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
