import { isMeasured, type Plan } from "../plan/plan.ts";
import { Allowances } from "./audit/allowances.ts";
import { isAccountedFor } from "./audit/at-rest.ts";
import { millisecondsOf } from "./audit/duration.ts";
import { InjectBooks } from "./audit/inject-books.ts";
import { KeyOrder } from "./audit/key-order.ts";
import { LeaseRule } from "./audit/lease-rule.ts";
import { Ledger } from "./audit/ledger.ts";
import { LetterBooks } from "./audit/letter-books.ts";
import { OutboxBooks } from "./audit/outbox-books.ts";
import { SourceBooks } from "./audit/source-books.ts";
import { Standings } from "./audit/standings.ts";
import { TargetBooks } from "./audit/target-books.ts";
import { DocumentBooks } from "./document-books.ts";
import { JobBooks } from "./job-books.ts";

const DEFAULT_TTL_MS = 30_000;

/**
 * Keeps its own books on what happens at each edge, and checks the engine's actions against them. It asks the engine
 * nothing.
 */
export class Auditor {
  readonly ledger: Ledger;
  readonly source: SourceBooks;
  readonly targets: TargetBooks;
  readonly letters: LetterBooks;
  readonly outbox: OutboxBooks;
  readonly injects: InjectBooks;
  readonly lease: LeaseRule;
  readonly jobs: JobBooks;
  readonly documents: DocumentBooks;
  readonly standings: Standings;
  readonly #allowances: Allowances;

  constructor(plan: Plan) {
    this.ledger = new Ledger(plan);
    const { ledger } = this;
    const seen = { violated: (words: string) => ledger.violated(words), now: () => ledger.now() };
    this.documents = new DocumentBooks({
      ...seen,
      stillMs: plan.faults.reduce((sum, { kind, forMs }) => sum + (kind === "freeze" ? forMs : 0), 0),
    });
    this.jobs = new JobBooks({
      ...seen,
      outbox: plan.outbox !== undefined,
      fansOut: plan.bindings.length > 1,
      measured: isMeasured(plan),
      ttlMs: millisecondsOf(plan.document.bridge?.lease_ttl) ?? DEFAULT_TTL_MS,
    });
    const allowances = new Allowances(ledger);
    const order = new KeyOrder(ledger, allowances);
    this.#allowances = allowances;
    this.lease = new LeaseRule(ledger);
    this.source = new SourceBooks(ledger, allowances);
    this.letters = new LetterBooks(ledger, allowances);
    this.outbox = new OutboxBooks(ledger, allowances, order);
    this.injects = new InjectBooks(ledger, allowances);
    const { lease, source, jobs } = this;
    this.standings = new Standings(ledger, { allowances, jobs });
    this.targets = new TargetBooks(ledger, { allowances, order, lease, source, replays: jobs.replays });
  }

  get violations(): readonly string[] {
    return this.ledger.violations;
  }

  violated(words: string): void {
    this.ledger.violated(words);
  }

  /** When all is at rest. */
  close(): void {
    this.jobs.close();
    this.outbox.close();
    this.letters.close();
    for (const known of this.ledger.known) {
      if (!known.published) continue;
      this.injects.close(known);
      isAccountedFor(known, this.ledger, this.#allowances);
    }
  }
}
