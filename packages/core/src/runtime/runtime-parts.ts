import type { Sender } from "@bridge/ports";
import type { Lease } from "../lease/lease.ts";
import type { Intake } from "../route/intake.ts";
import type { NamedProcessor, RouteParts } from "../route/route-parts.ts";
import type { Link } from "../session/link.ts";

/** The parts of a runtime, each by its `partKey`. Making them opens nothing. */
export interface RuntimeParts {
  /** The leases of exclusive sessions. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly links: ReadonlyMap<string, Link>;
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly senders: ReadonlyMap<string, Sender>;
  readonly processors: ReadonlyMap<string, NamedProcessor>;
  readonly routes: ReadonlyMap<string, RouteParts>;
  /** The sessions that a binding names; a stop error calls the others "unmanaged" (spec 3.3). */
  readonly managed: ReadonlySet<string>;
}

export const NO_PARTS: RuntimeParts = {
  leases: new Map(),
  links: new Map(),
  intakes: new Map(),
  senders: new Map(),
  processors: new Map(),
  routes: new Map(),
  managed: new Set(),
};

/** The parts at work, and by `partKey` which of them stay unchanged. */
export interface Kept {
  readonly parts: RuntimeParts;
  readonly keys: ReadonlySet<string>;
}
