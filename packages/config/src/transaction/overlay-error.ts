import { knownAcrossCopies } from "@bridge/ports/internal";
import { formatProblem, type Problem } from "../problem.ts";

/** More than these are counted, not told. */
const MAX_TOLD = 5;

/** An overlay that cannot be merged into any configuration, or not into this one. Nothing was changed. */
export class OverlayError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "OverlayError" });
    knownAcrossCopies(this, "overlay-error");
  }

  constructor(problems: readonly Problem[]) {
    const told = problems.slice(0, MAX_TOLD).map(formatProblem);
    if (problems.length > MAX_TOLD) told.push(`and ${problems.length - MAX_TOLD} more`);
    super(told.join("; "));
  }
}
