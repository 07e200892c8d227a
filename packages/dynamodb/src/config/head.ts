import { createHash } from "node:crypto";
import type { Item } from "../client/batches.ts";
import type { StagedConfig } from "@bridge/ports";

/** What is stored, by the item that says so. */
export type Current =
  /** There is no item. */
  | { readonly kind: "missing" }
  /** Put there by hand, as a text in the item itself: nobody has tried it out, and it counts as what is to be run. */
  | { readonly kind: "by hand"; readonly text: string }
  /** Written by a store; the document is in an item of its own, so that looking for changes is cheap. */
  | { readonly kind: "written"; readonly version: number; readonly revision: string }
  /** The item holds neither. */
  | { readonly kind: "unreadable"; readonly why: string };

/** Counts only over what it was staged over. */
interface Staged extends StagedConfig {
  readonly over: string;
}

export interface Head {
  readonly current: Current;
  readonly staged: Staged | undefined;
}

/** A document, exactly as it was found or written. */
export interface Exact {
  readonly current: Current;
  readonly text: string;
}

const MISSING: Head = { current: { kind: "missing" }, staged: undefined };

/** Names exactly what is stored. */
export function identityOf(current: Current): string {
  switch (current.kind) {
    case "missing":
      return "missing";
    case "by hand":
      return `by hand ${createHash("sha256").update(current.text).digest("hex")}`;
    case "written":
      return current.revision;
    case "unreadable":
      return `unreadable: ${current.why}`;
  }
}

/** What is staged and counts: another hand's change of the item takes it away, whatever that hand left there. */
export function stagedIn({ current, staged }: Head): StagedConfig | undefined {
  if (staged === undefined || staged.over !== identityOf(current)) return undefined;
  const { over: _, ...rest } = staged;
  return rest;
}

export function headOf(item: Item | undefined): Head {
  if (item === undefined) return MISSING;
  return { current: currentOf(item), staged: stagedOf(item["staged"]?.M) };
}

export function attributesOf({ current, staged }: Head): Item {
  return {
    ...(current.kind === "by hand" && { document: { S: current.text } }),
    ...(current.kind === "written" && { revision: { S: current.revision }, version: { N: String(current.version) } }),
    ...(staged !== undefined && {
      staged: {
        M: {
          version: { N: String(staged.version) },
          revision: { S: staged.revision },
          by: { S: staged.by },
          at: { N: String(staged.at) },
          ...(staged.until !== undefined && { until: { N: String(staged.until) } }),
          over: { S: staged.over },
        },
      },
    }),
  };
}

function currentOf({ document, revision, version }: Item): Current {
  if (document?.S !== undefined) return { kind: "by hand", text: document.S };
  if (document !== undefined)
    return { kind: "unreadable", why: "its attribute document is no string: store the document as JSON in a string" };
  if (revision?.S !== undefined && version?.N !== undefined)
    return { kind: "written", version: Number(version.N), revision: revision.S };
  return { kind: "unreadable", why: "it has no attribute document: store the document there, as JSON in a string" };
}

function stagedOf(map: Item | undefined): Staged | undefined {
  const { version, revision, by, at, until, over } = map ?? {};
  if (revision?.S === undefined || over?.S === undefined) return undefined;
  return {
    version: Number(version?.N),
    revision: revision.S,
    by: by?.S ?? "",
    at: Number(at?.N),
    ...(until?.N !== undefined && { until: Number(until.N) }),
    over: over.S,
  };
}
