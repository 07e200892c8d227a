import { suggestion } from "@bridge/ports/internal";
import type { Steps } from "@bridge/ports/internal";
import type { Registry } from "../registry.ts";
import type { HiddenValues } from "../check/hidden-values.ts";
import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { Report } from "../check/report.ts";
import type { Path } from "../problem.ts";
import type { Draft, DraftPart, Kind } from "./draft.ts";

/** Checks one thing that a schema cannot see, as far as the document is sound; in steps when that takes long. */
export type Rule = (context: RuleContext) => Steps<void> | undefined;

/** A part of a list, where it stands. */
export interface Placed<K extends Kind> {
  readonly part: DraftPart<K>;
  readonly path: Path;
}

/** What the rules look at, and where they tell what they find. */
export class RuleContext {
  readonly draft: Draft;
  readonly registry: Registry;
  readonly report: Report;
  readonly hidden: HiddenValues;
  readonly #document: Readonly<Record<string, unknown>>;
  readonly #parts = new Map<Kind, readonly Placed<Kind>[]>();
  readonly #byId = new Map<Kind, ReadonlyMap<string, Placed<Kind>>>();
  readonly #declaredIds = new Map<Kind, Declared>();

  constructor(document: unknown, draft: Draft, registry: Registry, report: Report, hidden: HiddenValues) {
    this.#document = isBlock(document) ? document : {};
    this.draft = draft;
    this.registry = registry;
    this.report = report;
    this.hidden = hidden;
  }

  /** The sound parts of a list; a broken one is left out, a partly broken one lacks what is broken. */
  parts<K extends Kind>(kind: K): readonly Placed<K>[] {
    let parts = this.#parts.get(kind);
    if (parts === undefined) {
      const list = (this.draft[kind] ?? []) as readonly (DraftPart<K> | undefined)[];
      parts = list.flatMap((part, index) => (part === undefined ? [] : [{ part, path: [kind, index] }]));
      this.#parts.set(kind, parts);
    }
    return parts as readonly Placed<K>[];
  }

  /** The part of that id; the first one when there are several. */
  find<K extends Kind>(kind: K, id: string | undefined): Placed<K> | undefined {
    if (id === undefined) return undefined;
    let index = this.#byId.get(kind);
    if (index === undefined) {
      const placed = this.parts(kind).flatMap((one) =>
        one.part.id === undefined ? [] : [[one.part.id, one] as const],
      );
      index = new Map<string, Placed<Kind>>(placed.toReversed());
      this.#byId.set(kind, index);
    }
    return index.get(id) as Placed<K> | undefined;
  }

  /** The transport of a receiver or sender: its own, else that of its session. */
  transportOf(part: {
    readonly transport?: string | undefined;
    readonly session_id?: string | undefined;
  }): string | undefined {
    return part.transport === "" ? this.find("sessions", part.session_id)?.part.transport : part.transport;
  }

  /** Reports a reference to a part that is not declared, not even with other faults. */
  refer(kind: Kind, id: string | undefined, path: Path): void {
    const declared = this.#declared(kind);
    if (id === undefined || declared === undefined || declared.ids.has(id)) return;
    const hint = this.hidden.covers(path) ? "" : suggestion(id, declared.visible);
    const otherwise =
      declared.visible.length === 0 ? `add it to ${kind}` : `${kind} are ${shortList(declared.visible)}`;
    const remedy = hint === "" ? `; ${otherwise}` : hint;
    this.report.problem(path, `there is no ${kind.slice(0, -1)} ${this.hidden.show(path, id)}${remedy}`);
  }

  /** Those of `ids` that are declared where a message may show them. */
  visibleIds(kind: Kind, ids: readonly (string | undefined)[]): readonly string[] {
    const visible = new Set(this.#declared(kind)?.visible);
    return ids.filter((id) => id !== undefined && visible.has(id)) as readonly string[];
  }

  /** Whether the document, sound there or not, has something at `path`. */
  written(path: Path): boolean {
    return valueAt(this.#document, path) !== undefined;
  }

  /** Whether the document has nothing at `path`, or an empty string, which is the same. */
  blank(path: Path): boolean {
    return !this.written(path) || valueAt(this.#document, path) === "";
  }

  /** The ids of a list as written; `undefined` when one cannot be read, so that nothing is known to be missing. */
  #declared(kind: Kind): Declared | undefined {
    const known = this.#declaredIds.get(kind);
    if (known !== undefined) return known;
    const list = this.#document[kind] ?? [];
    if (!Array.isArray(list)) return undefined;
    const ids = new Set<string>();
    const visible: string[] = [];
    for (const [index, element] of (list as readonly unknown[]).entries()) {
      const id = isBlock(element) ? element["id"] : undefined;
      if (typeof id !== "string") return undefined;
      ids.add(id);
      const sound = this.find(kind, id) !== undefined;
      if (sound && !this.hidden.covers([kind, index, "id"])) visible.push(id);
    }
    const declared = { ids, visible };
    this.#declaredIds.set(kind, declared);
    return declared;
  }
}

interface Declared {
  readonly ids: ReadonlySet<string>;
  /** Those that are sound and may be shown. */
  readonly visible: readonly string[];
}

const MAX_LISTED = 10;

function shortList(words: readonly string[]): string {
  const shown = words.slice(0, MAX_LISTED).join(", ");
  return words.length > MAX_LISTED ? `${shown}, …` : shown;
}
