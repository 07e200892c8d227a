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
import { layoutOf } from "./layout.ts";
import { parseDocument, type ParsedDocument } from "./parse-document.ts";
import { toValue } from "./to-value.ts";

type Value = Readonly<Record<string, unknown>>;

/**
 * `text`, changed so that it says `document`. What does not change keeps its place, its comments and its way of being
 * written; elements of lists are followed by their `id`. JSON stays JSON, with its indentation.
 * @throws Error when `text` is no document
 */
export function editDocument(text: string, document: Value): string {
  const wanted = JSON.parse(JSON.stringify(document)) as Value;
  const asIs = edited(text, wanted, false);
  if (says(asIs, wanted)) return asIs;
  // An anchor has changed that aliases still need as it was.
  const unfolded = edited(text, wanted, true);
  if (says(unfolded, wanted)) return unfolded;
  throw new Error("the configuration cannot be written in the format of its file");
}

function edited(text: string, wanted: Value, unfold: boolean): string {
  const parsed = parseDocument(text);
  if ("problems" in parsed) throw new Error("the file is no YAML document");
  const { tree, value } = parsed;
  if (unfold) unfoldAliases(parsed);
  tree.contents = new Fitting(tree).fit(tree.contents, value, wanted);
  const layout = layoutOf(text);
  return layout.json === undefined
    ? layout.breakLines(tree.toString(layout.yaml))
    : layout.breakLines(layout.json(toValue(tree.contents).value));
}

function says(text: string, wanted: Value): boolean {
  const parsed = parseDocument(text);
  return !("problems" in parsed) && isDeepStrictEqual(parsed.value, wanted);
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

/** For each new element the index of the old one that it is: of its id, else of its value, else the one in its place. */
function counterparts(before: readonly unknown[], after: readonly unknown[]): readonly (number | undefined)[] {
  const free = new Map<string, number[]>();
  for (const [index, element] of before.entries()) {
    const name = identity(element);
    const indices = free.get(name);
    if (indices === undefined) free.set(name, [index]);
    else indices.push(index);
  }
  const same = after.map((element) => free.get(identity(element))?.shift());
  const taken = new Set(same);
  return same.map(
    (index, i) => index ?? (taken.has(i) || i >= before.length || hasId(after[i]) || hasId(before[i]) ? undefined : i),
  );
}

function identity(element: unknown): string {
  return hasId(element) ? `id ${element.id}` : `value ${JSON.stringify(element)}`;
}

function hasId(element: unknown): element is { readonly id: string } {
  return isRecord(element) && typeof element["id"] === "string";
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

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : "";
}

function isRecord(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
