import { joined, knownAcrossCopies, type Said, toldText } from "@bridge/ports/internal";
import { formatPath, type Path } from "../problem.ts";
import { namedKeys } from "./named-keys.ts";

/** More than these are counted, not told. */
const MAX_TOLD = 5;

/** As a problem, of a message that says which of its parts show something of what was sent. */
export interface Fault {
  readonly path: Path;
  readonly message: Said;
}

/**
 * An overlay or a document that cannot be merged into any configuration, or not into this one. Nothing was changed. Its
 * `message` is for whoever sent it.
 */
export class OverlayError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "OverlayError" });
    knownAcrossCopies(this, "overlay-error");
  }

  /** The message in its parts: a record has only those that show nothing of what was sent. */
  readonly said: Said;

  constructor(faults: readonly Fault[]) {
    const told = faults.slice(0, MAX_TOLD).map(at);
    if (faults.length > MAX_TOLD) told.push(`and ${faults.length - MAX_TOLD} more`);
    const said = joined(told, "; ");
    super(toldText(said));
    this.said = said;
  }
}

/** Behind its place, of which a name that no schema has is the sender's own. */
function at({ path, message }: Fault): Said {
  if (path.length === 0) return message;
  const named = formatPath(path.slice(0, namedKeys(path)));
  const rest = formatPath(path).slice(named.length);
  return joined([[named, { sent: rest }, named === "" ? { sent: ": " } : ": "], message]);
}
