import { isDeepStrictEqual } from "node:util";
import {
  type Alias,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  visit,
  type YAMLSeq,
} from "yaml";
import { counterparts, isRecord, nameOf } from "./counterparts.ts";
import { layoutOf } from "./layout.ts";
import { parseDocument, type ParsedDocument } from "./parse-document.ts";
import { splicedDocument } from "./spliced-document.ts";
import { toValue } from "./to-value.ts";
import { quoteMergeKeys } from "./yaml-surprises.ts";

type Value = Readonly<Record<string, unknown>>;

/** A text, and what it says: the keys in their order there. */
export interface Edited {
  readonly text: string;
  readonly value: unknown;
}

/**
 * `text`, changed so that it says `document`, which is plain JSON. What does not change keeps its place, its comments
 * and its way of being written; elements of lists are followed by their `id`. JSON stays JSON. Where values change and
 * things are added, no other character of the text is another one.
 * @throws Error when `text` is no document
 */
export function editDocument(text: string, document: Value): Edited {
  const spliced = splicedDocument(text, document);
  const inPlace = spliced === undefined ? undefined : saying(spliced, document);
  if (inPlace !== undefined && layoutOf(text).isJson === layoutOf(inPlace.text).isJson) return inPlace;
  // Something goes, or becomes of another kind: then the layout around it is the printer's. An anchor may have changed
  // that aliases still need as it was.
  const printed =
    saying(printedDocument(text, document, false), document) ?? saying(printedDocument(text, document, true), document);
  if (printed !== undefined) return printed;
  throw new Error("the configuration cannot be written in the format of its file");
}

function printedDocument(text: string, wanted: Value, unfold: boolean): string {
  const parsed = parseDocument(text);
  if ("problems" in parsed) throw new Error("the file is no YAML document");
  const { tree, value } = parsed;
  if (unfold) unfoldAliases(parsed);
  tree.contents = new Fitting(tree).fit(tree.contents, value, wanted);
  quoteMergeKeys(tree);
  const layout = layoutOf(text);
  return layout.json === undefined
    ? layout.breakLines(tree.toString(layout.yaml))
    : layout.breakLines(layout.json(toValue(tree.contents).value));
}

/** `undefined` when the text says something else. */
function saying(text: string, wanted: Value): Edited | undefined {
  const parsed = parseDocument(text);
  return "value" in parsed && isDeepStrictEqual(parsed.value, wanted) ? { text, value: parsed.value } : undefined;
}

function unfoldAliases({ tree, targets }: ParsedDocument): void {
  const values = new Map(
    [...targets].map(([alias, target]) => [alias, target.toJS(tree, { maxAliasCount: -1 }) as unknown]),
  );
  visit(tree, {
    Alias: (_, alias: Alias) => tree.createNode(values.get(alias)),
    Node: (_, node) => void ("anchor" in node && delete node.anchor),
  });
}

/** Brings values into a tree. */
class Fitting {
  readonly #tree: Document;

  constructor(tree: Document) {
    this.#tree = tree;
  }

  /** A node that says `after`: `node`, which says `before`, as far as it can be kept. */
  fit(node: unknown, before: unknown, after: unknown): Node {
    if (isNode(node) && isDeepStrictEqual(before, after)) return node;
    if (isMap(node) && isRecord(before) && isRecord(after)) {
      const first = node.items[0];
      if (first !== undefined && !Object.hasOwn(after, nameOf(first.key))) moveComment(node, first.key);
      node.items = node.items.filter(({ key }) => Object.hasOwn(after, nameOf(key)));
      for (const pair of node.items) {
        const name = nameOf(pair.key);
        pair.value = this.fit(pair.value, before[name], after[name]);
      }
      const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
      node.items.push(...added.map((name) => this.#tree.createPair(name, after[name])));
      return node;
    }
    if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
      const { items } = node;
      const indices = counterparts(before, after);
      if (indices[0] !== 0) moveComment(node, items[0]);
      node.items = indices.map((index, i) =>
        index === undefined ? this.#element(node, after[i]) : this.fit(items[index], before[index], after[i]),
      );
      return node;
    }
    if (isScalar(node) && typeof before === typeof after && typeof after !== "object") {
      node.value = after;
      // It says what was there before, which is checked against the value.
      delete node.source;
      return node;
    }
    return withComments(node, this.#tree.createNode(after));
  }

  /** A new element, on one line if the others are. */
  #element({ items: [first] }: YAMLSeq, value: unknown): Node {
    const element = this.#tree.createNode(value);
    if ((isMap(element) || isSeq(element)) && (isMap(first) || isSeq(first))) element.flow = first.flow === true;
    return element;
  }
}

/** What stands above the first part of a collection is filed with the collection, and belongs to that part. */
function moveComment(collection: Node, first: unknown): void {
  if (typeof collection.commentBefore !== "string" || !isNode(first)) return;
  first.commentBefore = collection.commentBefore;
  delete collection.commentBefore;
}

function withComments(from: unknown, to: Node): Node {
  if (!isNode(from)) return to;
  if (typeof from.commentBefore === "string") to.commentBefore = from.commentBefore;
  if (from.spaceBefore === true) to.spaceBefore = true;
  if (from instanceof Scalar && to instanceof Scalar && typeof from.comment === "string") to.comment = from.comment;
  return to;
}
