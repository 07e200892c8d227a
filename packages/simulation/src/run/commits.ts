import { isDeepStrictEqual } from "node:util";
import { type BridgeDocument, type CommitResult, type ConfigTransactions, TransactionError } from "@bridge/config";
import { changed } from "../plan/change.ts";
import type { PlannedCommit } from "../plan/planned-commit.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

const PATIENCE_MS = 30_000;
const TTL_MS = 60_000;
/** When the faults are over: how often somebody looks whether all is as it was. */
const LOOK_MS = 7_000;

interface Commit {
  /** Default: that of `fromVersion`. */
  readonly document?: BridgeDocument;
  readonly fromVersion?: number;
  readonly trial?: PlannedCommit["trial"] | undefined;
}

/** Operators who change the document with commits, try changes out, confirm them and take them back. */
export class Commits {
  readonly #world: World;
  readonly #instances: Pick<Instances, "at" | "live">;
  /** Calls that wait for their answer, of those who still can. */
  readonly #calls = new Set<{ readonly owner: Owner }>();
  /** The document of the plan as JSON has it. */
  readonly #original: unknown;
  #next = 0;

  constructor(world: World, instances: Pick<Instances, "at" | "live">) {
    this.#world = world;
    this.#instances = instances;
    this.#original = JSON.parse(JSON.stringify(world.plan.document));
  }

  /** Whether the document is as it was in the beginning, everywhere, and nothing is tried out. */
  get done(): boolean {
    const { plan, document } = this.#world;
    if (plan.documents === undefined) return true;
    if (this.#isAsked) return false;
    const { live } = this.#instances;
    // What is noted of another document is forgotten at the next start.
    const isNoted = document.note?.tried.revision === document.stored.revision;
    if (!this.#isOriginal || isNoted || live.length < (plan.instances ?? 1)) return false;
    return live.every(
      ({ supervisor, configured, owner }) =>
        owner.frozen === undefined &&
        configured?.transactions.probation() === undefined &&
        configured?.told === undefined &&
        supervisor.view().configVersion === document.stored.version,
    );
  }

  /** Commits it at an instance; what is returned begins to change back what is there to stay. */
  begin(place: number, { change, trial }: PlannedCommit): () => void {
    const { plan, time } = this.#world;
    const instance = this.#instances.at(place);
    if (instance !== undefined)
      this.#commit(instance, { document: changed(plan.document, [change]), trial }, (result) => {
        if (result.status !== "probation" || trial === undefined || trial.next === "nothing") return;
        const { version } = result;
        time.at(time.now + trial.afterMs, () => this.#end(place, version, trial.next === "confirm"));
      });
    return () => {
      if (trial === undefined || trial.next === "confirm") this.#back(place);
    };
  }

  /** The faults are over: whoever looks after the bridge sees to it that the document is as it was, and that all run it. */
  lookAfter(): void {
    const { plan, time } = this.#world;
    if (plan.documents === undefined) return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    if (this.#isOriginal) {
      for (const instance of this.#instances.live)
        if (instance.configured?.told !== undefined && instance.configured.transactions.probation() === undefined)
          instance.asked(() => instance.configured?.follower.reload());
      return;
    }
    // What is tried out goes back by itself, which is waited for.
    const { documents } = this.#world.auditor;
    const { live } = this.#instances;
    if (live.some(({ supervisor }) => documents.mayBeTried(supervisor.config().configVersion))) return;
    this.#back(this.#next++ % Math.max(1, live.length));
  }

  /** Commits a version again that was taken back, when nothing else is under way; of one that is not kept, what it changed. */
  again(instance: Instance, version: number, committed: () => void): void {
    const { plan, document } = this.#world;
    if (!this.#isOriginal || this.#isAsked) return;
    const isKept = document.held.kept.some((kept) => kept.version === version);
    const what = isKept ? { fromVersion: version } : { document: changed(plan.document, [{ what: "outbox-moved" }]) };
    this.#commit(instance, what, ({ status }) => {
      if (status === "committed" || status === "committed_applying") committed();
    });
  }

  /** Whether somebody waits for an answer who can get one. */
  get #isAsked(): boolean {
    return [...this.#calls].some(({ owner }) => owner.alive);
  }

  get #isOriginal(): boolean {
    const { config_version: _, ...stored } = this.#world.document.stored.document;
    return isDeepStrictEqual(stored, this.#original);
  }

  #back(place: number): void {
    const instance = this.#instances.at(place);
    if (instance === undefined || this.#isOriginal || this.#isAsked) return;
    const tried = instance.configured?.transactions.probation();
    if (tried === undefined) this.#commit(instance, { document: this.#world.plan.document }, () => {});
  }

  #end(place: number, version: number, confirms: boolean): void {
    const { auditor } = this.#world;
    const instance = this.#instances.at(place);
    if (instance === undefined) return;
    const what = confirms ? "confirms" : "takes back";
    this.#ask(instance, `${what} version ${version}`, async (transactions) => {
      if (confirms) {
        await transactions.confirm(version);
        auditor.documents.told(version, "confirmed");
        return "it is there to stay";
      }
      const { status } = await transactions.revert(version, "simulated");
      if (status === "rolled_back" && this.#runs(instance) === version)
        auditor.violated(`an operator is told that version ${version} is taken back, and ${instance.name} runs it`);
      return status;
    });
  }

  #commit(instance: Instance, { document, fromVersion, trial }: Commit, told: (result: CommitResult) => void): void {
    this.#ask(instance, trial === undefined ? "commits" : "tries a change out", async (transactions, signal) => {
      const { id } = await transactions.open(TTL_MS, signal, fromVersion);
      try {
        if (document !== undefined) await transactions.replace(id, JSON.stringify(document), signal);
        const ran = this.#runs(instance);
        const result = await transactions.commit(id, "operator", trial);
        this.#judge(instance, result, ran);
        if (result.status === "stranding") this.#world.otherDlq.discardAll(instance.owner);
        if (result.status === "probation") this.#world.auditor.documents.tried(result.version, trial?.withinMs ?? 0);
        told(result);
        return `${result.status}${"error" in result ? `: ${result.error}` : ""}`;
      } finally {
        if (transactions.has(id)) transactions.rollback(id);
      }
    });
  }

  /** Holds what an operator is told against what is so; `ran`: before. */
  #judge(instance: Instance, result: CommitResult, ran: number | undefined): void {
    const { auditor } = this.#world;
    if (result.status === "invalid" || result.status === "erases_options")
      auditor.violated(`a sound change is told to be ${result.status}: ${JSON.stringify(result)}`);
    if (result.status === "committed" || result.status === "committed_applying")
      auditor.documents.told(result.version, "committed");
    if (result.status !== "committed" && result.status !== "probation" && result.status !== "rolled_back") return;
    const runs = this.#runs(instance);
    // Others may have written what is stored: an instance that has yet to follow them goes back to what it ran.
    if (result.status === "rolled_back" && runs === ran) return;
    if (runs !== undefined && runs !== result.version)
      auditor.violated(
        `an operator is told that version ${result.version} is ${result.status}, and ${instance.name} runs version ${runs}`,
      );
  }

  /** The version that it runs, if it runs and is not being changed. */
  #runs({ supervisor }: Instance): number | undefined {
    return supervisor.state().kind === "running" ? supervisor.config().configVersion : undefined;
  }

  #ask(
    instance: Instance,
    what: string,
    call: (transactions: ConfigTransactions, signal: AbortSignal) => Promise<string>,
  ): void {
    const { trace, time, auditor } = this.#world;
    const { configured, owner, name } = instance;
    if (configured === undefined) return;
    const waiting = { owner };
    this.#calls.add(waiting);
    instance.asked(() => {
      trace.add(`an operator ${what} at ${name}`);
      const patience = new AbortController();
      time.at(time.now + PATIENCE_MS, () => owner.alive && patience.abort(new Error("no patience")));
      call(configured.transactions, patience.signal)
        .then(
          (told) => told,
          (error: unknown) => {
            if (owner.alive && !(error instanceof TransactionError) && error !== patience.signal.reason)
              auditor.violated(`an operator who ${what} is told ${String(error)}`);
            return `no: ${String(error)}`;
          },
        )
        .then(
          (told) => {
            this.#calls.delete(waiting);
            if (owner.alive) trace.add(`the operator who ${what} at ${name} is told ${told}`);
          },
          () => {},
        );
    });
  }
}
