import { Document, isMap, isSeq, type Scalar, YAMLSeq } from "yaml";
import type { Layout } from "./layout.ts";
import { quoteMergeKeys } from "./yaml-surprises.ts";

/** Prints parts of a document so that they fit between what is there. */
export class Printer {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Behind a comma. */
  get gap(): string {
    return this.#layout.isCompact ? "" : " ";
  }

  /** A value on one line. */
  scalar(scalar: Scalar, inFlow: boolean): string {
    if (this.#layout.isJson) return JSON.stringify(scalar.value);
    if (!inFlow) return this.#print(new Document({ k: scalar })).slice("k: ".length);
    const list = new YAMLSeq();
    list.flow = true;
    list.items.push(scalar);
    return unwrapped(this.#print(new Document(list)));
  }

  /** What stands between the brackets of a list. */
  inside(values: readonly unknown[]): string {
    if (this.#layout.isJson) return values.map((value) => JSON.stringify(value)).join(`,${this.gap}`);
    return unwrapped(this.#flow(values));
  }

  /** The part of a collection with one, for braces; over several lines that begin with `indent` when that is given. */
  inFlow(collection: object, indent: string | undefined): string {
    const { json } = this.#layout;
    if (json === undefined) return unwrapped(this.#flow(collection));
    if (indent === undefined) {
      const text = unwrapped(JSON.stringify(collection));
      return this.gap === "" || Array.isArray(collection) ? text : text.replace('":', '": ');
    }
    const lines = json(collection).trim().split("\n").slice(1, -1);
    const own = /^\s*/.exec(lines[0] ?? "")?.[0].length ?? 0;
    return lines.map((line, at) => (at === 0 ? "" : indent) + line.slice(own)).join("\n");
  }

  /** The part of a collection with one, on lines of its own. */
  inBlock(collection: object, indent: string, asFlow: boolean): string {
    const document = new Document(collection);
    const { contents } = document;
    if (isSeq(contents) && asFlow) {
      const [element] = contents.items;
      if (isMap(element) || isSeq(element)) element.flow = true;
    }
    return this.#print(document)
      .split("\n")
      .map((line) => (line === "" ? "" : indent + line))
      .join("\n");
  }

  #flow(collection: object): string {
    const document = new Document(collection);
    const { contents } = document;
    if (isMap(contents) || isSeq(contents)) contents.flow = true;
    return this.#print(document);
  }

  #print(document: Document): string {
    quoteMergeKeys(document);
    return document.toString(this.#layout.yaml).trimEnd();
  }
}

/** Without the outermost braces or brackets. */
function unwrapped(text: string): string {
  return text.slice(1, -1).trim();
}
