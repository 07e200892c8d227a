import { isDeepStrictEqual } from "node:util";
import { isMap, isScalar, isSeq, type Pair, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { counterparts, isRecord, nameOf } from "./counterparts.ts";
import { layoutOf } from "./layout.ts";
import { parseDocument } from "./parse-document.ts";
import { Printer } from "./printer.ts";

type Value = Readonly<Record<string, unknown>>;

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * `text` with nothing but the changed values and the additions written into it, so that it says `wanted`; `undefined`
 * when that cannot be done piece by piece. Whether it does say so is for the caller to see: a changed anchor changes
 * more.
 */
export function splicedDocument(text: string, wanted: Value): string | undefined {
  const layout = layoutOf(text);
  const lines = text.replaceAll("\r\n", "\n");
  const parsed = parseDocument(lines);
  if ("problems" in parsed) return undefined;
  const splicing = new Splicing(lines, new Printer(layout));
  if (!splicing.fit(parsed.tree.contents, parsed.value, wanted, false)) return undefined;
  return layout.breakLines(splicing.result());
}

/** Gathers what is to be written where. Each method returns false when it cannot be done this way. */
class Splicing {
  readonly #text: string;
  readonly #printer: Printer;
  readonly #splices: Splice[] = [];

  constructor(text: string, printer: Printer) {
    this.#text = text;
    this.#printer = printer;
  }

  /** Those of one place come in the order in which they were made: what is further inside comes first. */
  result(): string {
    let [written, end] = ["", 0];
    for (const splice of this.#splices.toSorted((a, b) => a.start - b.start)) {
      written += this.#text.slice(end, splice.start) + splice.text;
      end = splice.end;
    }
    return written + this.#text.slice(end);
  }

  fit(node: unknown, before: unknown, after: unknown, inFlow: boolean): boolean {
    if (isDeepStrictEqual(before, after)) return true;
    if (isMap(node) && isRecord(before) && isRecord(after)) return this.#map(node, before, after, inFlow);
    if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) return this.#list(node, before, after, inFlow);
    return isScalar(node) && typeof before === typeof after && this.#scalar(node, after, inFlow);
  }

  #scalar(node: Scalar, after: unknown, inFlow: boolean): boolean {
    if (!node.range || !isOnOneLine(node) || typeof after === "object") return false;
    const [start, end] = node.range;
    const copy = new Scalar(after);
    Object.assign(copy, { type: node.type, format: node.format, minFractionDigits: node.minFractionDigits });
    this.#splices.push({ start, end, text: this.#printer.scalar(copy, inFlow) });
    return !this.#text.slice(start, end).includes("\n");
  }

  #map(node: YAMLMap, before: Value, after: Value, inFlow: boolean): boolean {
    const flow = inFlow || node.flow === true;
    if (Object.keys(before).some((name) => !Object.hasOwn(after, name))) return false;
    for (const { key, value } of node.items) {
      const name = nameOf(key);
      if (!this.fit(value, before[name], after[name], flow)) return false;
    }
    const added = Object.entries(after).filter(([name]) => !Object.hasOwn(before, name));
    return (
      added.length === 0 ||
      this.#append(
        node,
        added.map(([name, value]) => ({ [name]: value })),
        flow,
      )
    );
  }

  #list(node: YAMLSeq, before: readonly unknown[], after: readonly unknown[], inFlow: boolean): boolean {
    const flow = inFlow || node.flow === true;
    const indices = counterparts(before, after);
    const isKept = before.every((_, index) => indices[index] === index);
    if (!isKept || indices.slice(before.length).some((index) => index !== undefined)) {
      return flow && this.#words(node, after);
    }
    for (const [index, item] of node.items.entries()) {
      if (!this.fit(item, before[index], after[index], flow)) return false;
    }
    const added = after.slice(before.length);
    return (
      added.length === 0 ||
      this.#append(
        node,
        added.map((value) => [value]),
        flow,
      )
    );
  }

  /** A list of plain values on one line is written again. */
  #words(node: YAMLSeq, after: readonly unknown[]): boolean {
    if (!node.range || !node.items.every((item) => isScalar(item))) return false;
    const [start, end] = node.range;
    const former = this.#text.slice(start, end);
    if (/[\n#]/.test(former) || after.some((value) => typeof value === "object")) return false;
    const pad = former.startsWith("[ ") ? " " : "";
    this.#splices.push({ start, end, text: `[${pad}${this.#printer.inside(after)}${pad}]` });
    return true;
  }

  /** `added`: each the only part of a collection of the same kind. */
  #append(node: YAMLMap | YAMLSeq, added: readonly (Value | readonly unknown[])[], flow: boolean): boolean {
    const end = endOf(node);
    const [start] = node.range ?? [];
    if (start === undefined || end === undefined) return false;
    const first = this.#indentOf(firstOf(node) ?? start);
    if (flow) {
      const isSpread = this.#text.slice(start, firstOf(node)).includes("\n");
      for (const part of added) {
        const text = this.#printer.inFlow(part, isSpread ? first : undefined);
        this.#splices.push({
          start: end,
          end,
          text: isSpread ? `,\n${first}${text}` : `,${this.#printer.gap}${text}`,
        });
      }
      return true;
    }
    const indent = isMap(node) ? first : this.#indentOf(start);
    const lineEnd = this.#text.indexOf("\n", end);
    const at = lineEnd === -1 ? this.#text.length : lineEnd;
    const asFlow = isSeq(node) && isFlow(node.items[0]);
    for (const part of added) {
      this.#splices.push({ start: at, end: at, text: `\n${this.#printer.inBlock(part, indent, asFlow)}` });
    }
    return true;
  }

  /** What a line has to begin with to be below what is at `offset`. */
  #indentOf(offset: number): string {
    return this.#text.slice(this.#text.lastIndexOf("\n", offset - 1) + 1, offset).replaceAll(/\S/g, " ");
  }
}

function isOnOneLine({ type }: Scalar): boolean {
  return type === Scalar.PLAIN || type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
}

function isFlow(node: unknown): boolean {
  return (isMap(node) || isSeq(node)) && node.flow === true;
}

/** Where the first part of a collection begins. */
function firstOf({ items: [first] }: YAMLMap | YAMLSeq): number | undefined {
  return rangeOf(isPair(first) ? first.key : first)?.[0];
}

/** Behind the last part of a collection that has one, before its comment; `undefined` when that is not easily said. */
function endOf({ items }: YAMLMap | YAMLSeq): number | undefined {
  const last: unknown = items.at(-1);
  const node = isPair(last) ? (rangeOf(last.value) === undefined ? last.key : last.value) : last;
  if ((isMap(node) || isSeq(node)) && node.flow !== true) return endOf(node);
  // The end of a block of text is the beginning of something else.
  if (isScalar(node) && !isOnOneLine(node)) return undefined;
  return rangeOf(node)?.[1];
}

function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? (node.range ?? undefined) : undefined;
}

function isPair(item: unknown): item is Pair {
  return typeof item === "object" && item !== null && "key" in item;
}
