import { describeOutboxStore, SuiteClock } from "@bridge/conformance";
import { systemClock, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "../../src/outbox/open-memory-outbox.ts";

const FORGETS = "it keeps nothing beyond the process, and says so";
const UNCHANGED = "nobody can change what is in the memory of a process";
const OWN_TIME = "its time is its own";

describeOutboxStore("memory", {
  open: async (options) => openMemoryOutbox({ ...options, maxRecords: 2_000, random: systemRandom() }),
  except: {
    "what was persisted survives an abrupt end": FORGETS,
    "an abrupt end leaves all records of a call or none": FORGETS,
    "the order survives an abrupt end, and what comes later is younger": FORGETS,
    "how loans ended survives an abrupt end": FORGETS,
    "evidence against duplicates survives an abrupt end": FORGETS,
    "what was lent at an abrupt end is lent again, uncharged": FORGETS,
    "no key is overtaken because of an abrupt end": FORGETS,
    "what redrives an entry survives an abrupt end": FORGETS,
    "a changed record is never lent, and holds up no other": UNCHANGED,
    "an unreadable record is never lent, and holds up no other": UNCHANGED,
  },
});

/** Time as it passes at the server of the second subject: as it does here, and on when the suite says so. */
class ServerClock extends SuiteClock {
  readonly #begun = systemClock.monotonic();

  constructor() {
    super(systemClock.now());
  }

  override now(): number {
    return super.now() + this.#gone;
  }

  override monotonic(): number {
    return super.monotonic() + this.#gone;
  }

  get #gone(): number {
    return Math.floor(systemClock.monotonic() - this.#begun);
  }
}

let serverTime = new ServerClock();

// The same as if it were a server: it outlives whoever uses it, has many users and a time of its own.
describeOutboxStore("memory, as a server", {
  async open(options) {
    serverTime = new ServerClock();
    return openMemoryOutbox({ ...options, clock: serverTime, maxRecords: 2_000, random: systemRandom() });
  },
  reopen: async (store) => store,
  second: async (store) => ({ ...store, async [Symbol.asyncDispose]() {} }),
  // The times of retries are by the clock of who asks for them.
  pass: async (ms) => serverTime.pass(ms + 30_000),
  except: {
    "evidence stays to the last millisecond of the retention": OWN_TIME,
    "a loan lasts to its last millisecond and no longer": OWN_TIME,
    "a record is due in the millisecond that its retry names": OWN_TIME,
    "a loan lasts as long when the clock is set": OWN_TIME,
    "a new record is due even when the clock is set back": OWN_TIME,
    "a changed record is never lent, and holds up no other": UNCHANGED,
    "an unreadable record is never lent, and holds up no other": UNCHANGED,
  },
});
