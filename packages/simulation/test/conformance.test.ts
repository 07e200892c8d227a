import {
  type ConfigPlace,
  describeConfigDepartures,
  describeConfigProbations,
  describeConfigStaging,
  describeConfigStore,
  describeDlqParts,
  describeDlqStore,
  describeLeaseStore,
  describeOutboxStore,
} from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { Dice } from "../src/dice.ts";
import { documentStore } from "../src/model/document-store.ts";
import { KeptDocument } from "../src/model/kept-document.ts";
import { DeadLetters } from "../src/model/dead-letters.ts";
import { Leases } from "../src/model/leases.ts";
import { Outbox } from "../src/model/outbox.ts";
import { InstanceClock } from "../src/time/instance-clock.ts";
import { type Owner, VirtualTime } from "../src/time/virtual-time.ts";
import { Trace } from "../src/trace.ts";
import { muteAuditor } from "./support/mute-auditor.ts";

const OWN_TIME = "its time is its own";
const NOT_READ_ONLY = "nobody here may only read";
const UNCHANGED = "nobody can change what is in the memory of a process";

/** A world whose time passes while somebody waits for an answer, and otherwise when it is told to. */
function world() {
  const time = new VirtualTime();
  const trace = new Trace(() => time.now, false);
  const waiting = new Set<unknown>();
  const pump = async (): Promise<void> => {
    while (waiting.size > 0) {
      await time.pass(time.now + 1);
      // Whoever waits has the turn in between.
      await new Promise<void>((resolve) => systemClock.turn(resolve));
    }
  };
  function awaited<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (waiting.add(answer).size === 1) void pump();
    return answer.finally(() => waiting.delete(answer));
  }
  /** The same store; each call lets time pass until it is answered. */
  function patient<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get(target, name) {
        const part: unknown = Reflect.get(target, name);
        if (typeof part === "object" && part !== null) return Object.isFrozen(part) ? part : patient(part);
        if (typeof part !== "function") return part;
        return (...given: unknown[]) => {
          const answer: unknown = Reflect.apply(part, target, given);
          if (answer instanceof Promise) return awaited(answer);
          // What a watch tells is waited for as well.
          return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer
            ? patient(answer)
            : answer;
        };
      },
    });
  }
  const shared = { time, trace, auditor: muteAuditor, dice: new Dice(1), habits: { latencyMs: 1 } };
  return { ...shared, patient, awaited };
}

function owner(): Owner {
  return { name: "one", alive: true, pending: 0 };
}

let own = world();

let letters = new DeadLetters(own);
const dlq = {
  async open() {
    own = world();
    letters = new DeadLetters({ ...own, parts: true });
    return own.patient(letters.store(owner()));
  },
  reopen: async () => own.patient(letters.store(owner())),
  second: async () => own.patient(letters.store(owner())),
};
describeDlqStore("of the simulation", dlq);
describeDlqParts("of the simulation", {
  ...dlq,
  many: 1_000,
  except: {
    "pages: an entry whose head says another route, or nothing, is found where it is told to be": UNCHANGED,
    "pages: an entry whose id somebody has changed, or emptied, is told and named by that, and is spoiled": UNCHANGED,
    "pages: an entry whose head says another time, error or binding is found where it is told to be": UNCHANGED,
    "pages: an entry that somebody has moved into the future is found there: it is in no set up to now, and in what comes after":
      UNCHANGED,
    "jobs: a job whose document somebody has cut off, emptied or replaced is handed out, and holds up no other":
      UNCHANGED,
    "trash: an entry of the trash that somebody has given the id of another one comes back beside it, as one that is spoiled":
      UNCHANGED,
    "trash: an entry of the trash that somebody has given the id of another one stays when that is purged and brought back, too":
      UNCHANGED,
    "trash: an entry of the trash that somebody has given the id of another one stays when that is delivered":
      UNCHANGED,
    "trash: operators 3.5.7: what is purged stays until the end that its job says, whatever somebody has made of the end beside it":
      UNCHANGED,
    "trash: operators 3.5.7: of what is purged nothing is left a day after its job says so, whatever somebody has made of the end beside it":
      UNCHANGED,
    "trash: what is over its time is not there any more": OWN_TIME,
    "trash: operators 4.10.5: what is being taken back is in time until that is over": OWN_TIME,
  },
});

let leases = new Leases(own);
describeLeaseStore("of the simulation", {
  async open() {
    own = world();
    leases = new Leases(own);
    return own.patient(leases.store(owner()));
  },
  reopen: async () => own.patient(leases.store(owner())),
  second: async () => own.patient(leases.store(owner())),
});

for (const shared of [true, false]) {
  let outbox: Outbox;
  let last: Owner | undefined;
  const opened = async () => {
    const by = owner();
    // Whoever had a file open has died.
    if (!shared && last !== undefined) last.alive = false;
    last = by;
    return own.patient(await own.awaited(outbox.open(by, new AbortController().signal)));
  };
  describeOutboxStore(`of the simulation, ${shared ? "a server" : "a file"}`, {
    async open({ retentionMs }) {
      own = world();
      outbox = new Outbox({ ...own, retentionMs, habits: { latencyMs: 1, shared, maxRecords: 2_000 } });
      return opened();
    },
    reopen: opened,
    ...(shared && { second: opened }),
    pass: (ms) => own.time.pass(own.time.now + ms + 10),
    except: {
      "evidence stays to the last millisecond of the retention": OWN_TIME,
      "a loan lasts to its last millisecond and no longer": OWN_TIME,
      "a record is due in the millisecond that its retry names": OWN_TIME,
      "a loan lasts as long when the clock is set": OWN_TIME,
      "a new record is due even when the clock is set back": OWN_TIME,
      "lists what is lent, what waits for a retry, and nothing that is finished": OWN_TIME,
      "tells of a blocked key its oldest record, how often that was tried, when it is again, and how many wait":
        OWN_TIME,
      "how loans ended survives an abrupt end": OWN_TIME,
      "a changed record is never lent, and holds up no other": UNCHANGED,
      "an unreadable record is never lent, and holds up no other": UNCHANGED,
    },
  });
}

/** A document in a world of its own. */
function placeOf(shared: boolean, document?: Readonly<Record<string, unknown>>): ConfigPlace {
  own = world();
  const { time, patient } = own;
  const kept = new KeptDocument({ ...own, habits: { latencyMs: 1, shared }, document: { bridge: { id: "any" } } });
  if (document === undefined) kept.away = "missing";
  else kept.held.replace(document);
  const owners: Owner[] = [];
  const open = () => {
    const by = owner();
    owners.push(by);
    const clock = new InstanceClock({ time, owner: by, epoch: 0, rate: 1, phase: () => 0 });
    return patient(documentStore(kept, by, clock));
  };
  return {
    store: open(),
    second: async () => open(),
    reopen: async () => {
      // Those before have ended, so that they have no locks.
      for (const before of owners) kept.letGo(before);
      return open();
    },
    leaver: async () => {
      const store = open();
      const by = owners.at(-1);
      const stored = await store.load(new AbortController().signal);
      if (stored === undefined) throw new Error("nothing is stored");
      await store.departures?.remember(stored, new AbortController().signal, {});
      return {
        forget: async () => store.departures?.forget(new AbortController().signal),
        kill: async () => {
          if (by !== undefined) by.alive = false;
        },
      };
    },
    content: async () => (kept.away === "missing" ? undefined : JSON.stringify(kept.stored.document)),
    replace: async (next) => {
      kept.away = undefined;
      kept.held.replace(next);
    },
    remove: async () => void (kept.away = "missing"),
    damage: async () => void (kept.away = "unreadable"),
    async [Symbol.asyncDispose]() {},
  };
}

for (const shared of [true, false])
  describeConfigStore(`of the simulation, ${shared ? "a table" : "a file"}`, {
    open: async (document) => placeOf(shared, document),
    except: { "a read-only document says so, and stays as it is": NOT_READ_ONLY },
  });
describeConfigDepartures("of the simulation, a file", { open: async (document) => placeOf(false, document) });
describeConfigProbations("of the simulation, a file", { open: async (document) => placeOf(false, document) });
describeConfigStaging("of the simulation, a table", {
  open: async (document) => placeOf(true, document),
  except: { "a read-only document cannot be staged over": NOT_READ_ONLY },
});
