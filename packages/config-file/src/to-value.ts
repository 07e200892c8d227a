import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";
import { SYNTAX_MESSAGES } from "./syntax-messages.ts";
import { type Surprise, surpriseOfKey, surpriseOfScalar } from "./yaml-surprises.ts";

interface Converted {
  readonly value: unknown;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
  readonly faults: readonly Surprise[];
}

/** The most values that aliases may add to a document: a few lines of them can unfold to gigabytes. */
const MAX_ALIASED = 100_000;

/**
 * The plain value of a YAML document, with what the parser leaves unchecked: duplicate keys, aliases, and what
 * surprises.
 */
export function toValue(root: Node | null): Converted {
  const conversion = new Conversion();
  const value = conversion.convert(root).value;
  return { value, targets: conversion.targets, faults: conversion.faults };
}

/** A value, and how many values it consists of once its aliases are unfolded. */
interface Sized {
  readonly value: unknown;
  readonly size: number;
}

const NOTHING: Sized = { value: null, size: 1 };

class Conversion {
  readonly targets = new Map<Alias, Node>();
  readonly faults: Surprise[] = [];
  /** The node that each anchor stands for so far; a later one of the same name takes over. */
  readonly #anchors = new Map<string, Node>();
  readonly #done = new Map<Node, Sized>();
  #aliased = 0;

  convert(node: unknown): Sized {
    if (isAlias(node)) return this.#alias(node);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, node as Node);
    const sized = this.#plain(node);
    if (anchor !== undefined) this.#done.set(node as Node, sized);
    return sized;
  }

  #plain(node: unknown): Sized {
    if (isMap(node)) return this.#map(node);
    if (isScalar(node)) return this.#scalar(node);
    if (!isSeq(node)) return NOTHING;
    const items = node.items.map((item) => this.convert(item));
    return { value: items.map((item) => item.value), size: sizeOf(items) };
  }

  #scalar(scalar: Scalar): Sized {
    const surprise = surpriseOfScalar(scalar);
    return surprise === undefined ? { value: scalar.value, size: 1 } : this.#fault(scalar, surprise);
  }

  #map(map: YAMLMap): Sized {
    const entries = new Map<string, Sized>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : "";
      const surprise = surpriseOfKey(key);
      if (surprise !== undefined) this.#fault(key, surprise);
      if (entries.has(name)) this.#fault(key, SYNTAX_MESSAGES.DUPLICATE_KEY);
      entries.set(name, this.convert(value));
    }
    return {
      value: Object.fromEntries([...entries].map(([name, part]) => [name, part.value])),
      size: sizeOf(entries.values()),
    };
  }

  #alias(alias: Alias): Sized {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) return this.#fault(alias, "no anchor of this name stands above");
    const sized = this.#done.get(target);
    if (sized === undefined) return this.#fault(alias, "this alias stands inside of what it stands for");
    const isTold = this.#aliased > MAX_ALIASED;
    this.#aliased += sized.size;
    if (isTold) return NOTHING;
    if (this.#aliased > MAX_ALIASED) return this.#fault(alias, "the aliases unfold to too much: write less of them");
    this.targets.set(alias, target);
    return sized;
  }

  #fault(node: unknown, message: string): Sized {
    const offset = (node as Node | null)?.range?.[0] ?? 0;
    this.faults.push({ offset, message });
    return NOTHING;
  }
}

function sizeOf(parts: Iterable<Sized>): number {
  let size = 1;
  for (const part of parts) size += part.size;
  return size;
}
