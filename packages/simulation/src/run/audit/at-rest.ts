import type { Allowances } from "./allowances.ts";
import type { Known, Ledger } from "./ledger.ts";

/** Invariants 2 and 3, of one message when all is at rest. */
export function isAccountedFor(known: Known, ledger: Ledger, allowances: Allowances): void {
  const { number, givenUp, injected, forgotten } = known;
  const isPromised = !givenUp && (injected === undefined || injected === "done");
  const open = isPromised ? allowances.openAt(number) : [];
  if (open.length > 0)
    ledger.violated(`message ${number} is lost: it is neither at ${open.join(", ")} nor in the DLQ nor dropped`);
  if (!forgotten && !givenUp && injected === undefined)
    ledger.violated(`message ${number} is still at its source when all is at rest`);
  for (const [binding, at] of known.targets) {
    if (at.record === "pending") ledger.violated(`message ${number} is still in the outbox when all is at rest`);
    const direct = known.handedBack + known.redrives + at.attempts;
    const stored = at.lapsed + at.again + at.replays;
    const { plan, changes } = ledger;
    const repeats = plan.outbox === undefined ? direct : changes.size > 0 ? direct + stored : stored;
    const bound = 1 + at.unheard + repeats;
    if (at.accepted > bound)
      ledger.violated(`message ${number} came ${at.accepted} times to ${binding}, where ${bound} would have a cause`);
  }
}
