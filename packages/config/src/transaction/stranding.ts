/** Messages that wait in a store, and that nobody would deliver or see any more. */
export interface Stranded {
  readonly store: "outbox" | "dlq";
  /** Of the outbox: whose records they are. */
  readonly routeId?: string;
  readonly bindingId?: string;
  /** How many. Absent: nobody can tell now. */
  readonly waiting?: number;
  /** There are at least so many. */
  readonly capped?: true;
  /** Of a store that is not open here: the stored version that names it. Who runs that can tell what it holds. */
  readonly version?: number;
}

/** Why a change of configuration is refused: what it would leave behind. */
export interface Stranding {
  /** For operators; the same wherever it is told. */
  readonly message: string;
  readonly stranded: readonly Stranded[];
}

/** So many are named in words: there may be one for each of thousands of bindings. */
const NAMED = 20;

/** Puts in words what a change would leave behind. */
export function strandingOf(stranded: readonly Stranded[]): Stranding {
  const roles = [...new Set(stranded.map(({ store }) => store))];
  const flags = roles.map((role) => `stores.${role}.abandon_backlog: true`).join(" and ");
  const ways = new Set(
    stranded.map(({ store, version }) => (version === undefined ? REMEDIES[store] : whereItRuns(version))),
  );
  const way = [...ways].join("; ");
  const beyond = stranded.length - NAMED;
  const what = [...stranded.slice(0, NAMED).map(told), ...(beyond > 0 ? [`and ${beyond} more`] : [])].join(", ");
  const message = `the change would leave messages behind: ${what}; ${way}; or say ${flags} in the changed document to leave them where they are`;
  return { message, stranded };
}

const REMEDIES = {
  outbox: "let the outbox deliver them or move them to the DLQ",
  dlq: "redrive or delete the dead letters",
} as const;

function whereItRuns(version: number): string {
  return `make the change at an instance that runs version ${version}, or when this one does`;
}

function told({ store, routeId, bindingId, waiting, capped, version }: Stranded): string {
  if (version !== undefined)
    return `what the ${NAMES[store]} of the stored version ${version} holds, which is not open here`;
  const whose = routeId === undefined ? "" : ` of route ${routeId} and binding ${bindingId ?? ""}`;
  if (waiting === undefined) return `what the ${NAMES[store]} holds${whose}, which cannot be counted now`;
  return `${capped === true ? "at least " : ""}${waiting} in the ${NAMES[store]}${whose}`;
}

const NAMES = { outbox: "outbox", dlq: "DLQ" } as const;
