import { type BridgeConfig, elsewhereNow, samePlaces } from "@bridge/config";
import type { ConfigDepartures, ConfigStore, Seams, StoredConfig } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { FoundDeparture } from "./former-configuration.ts";
import { messageOf } from "./message-of.ts";

const LOOK_MS = 5_000;

/** What is told now; `isOver`: it will not be so again. */
interface Told {
  readonly told?: string;
  readonly isOver?: true;
}

type Look = (signal: AbortSignal) => Promise<Told>;

const OVER: Told = { isOver: true };

/** What people have to know of stores that a process before was leaving, and that this one does not leave. */
export class DepartureNotice implements Disposable {
  readonly #look: Look;
  readonly #clock: Seams["clock"];
  readonly #timer: Disposable;
  #told: string | undefined;
  #isLooking = false;

  /** @param first what is told at first */
  constructor(first: string, look: Look, clock: Seams["clock"]) {
    this.#told = first;
    this.#look = look;
    this.#clock = clock;
    this.#timer = clock.every(LOOK_MS, () => void this.#again());
  }

  get told(): string | undefined {
    return this.#told;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  async #again(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    using bound = deadline(this.#clock, LOOK_MS, () => new Error(`it was not read in ${LOOK_MS / 1_000} s`));
    try {
      const { told, isOver } = await this.#look(bound.signal);
      this.#told = told;
      if (isOver) this[Symbol.dispose]();
    } catch {
      // What was told is so as far as anybody knows.
    } finally {
      this.#isLooking = false;
    }
  }
}

/** @param found what a start has found. `undefined` is returned where nothing of it has to be told */
export function departureNoticeOf(
  found: FoundDeparture,
  store: Pick<ConfigStore, "source" | "departures">,
  runs: () => Pick<BridgeConfig, "stores">,
  seams: Pick<Seams, "clock" | "logger">,
): DepartureNotice | undefined {
  if (found === undefined) return undefined;
  if ("unread" in found) return unreadNotice(found.unread, store.departures, seams);
  return "elsewhere" in found ? elsewhereNotice(found, store, runs, seams) : undefined;
}

/**
 * That nobody knows what a process before was leaving, since what says so cannot be read: it is told until it can be
 * read again, which the next start does, or is removed.
 */
function unreadNotice(
  why: string,
  departures: ConfigDepartures | undefined,
  { clock, logger }: Pick<Seams, "clock" | "logger">,
): DepartureNotice {
  const look: Look = async (signal) => {
    let former: StoredConfig | undefined;
    try {
      for await (const found of departures?.find(signal) ?? []) former ??= found;
    } catch (error) {
      return { told: unreadBy(messageOf(error)) };
    }
    if (former !== undefined)
      logger.warn("what says which stores were being left can be read again: the next start runs it first", {
        config_version: former.version,
      });
    return OVER;
  };
  return new DepartureNotice(unreadBy(why), look, clock);
}

/**
 * That a process before was leaving stores which are other places here: it is told for as long as that is remembered, no
 * other process goes on leaving them, and what runs has other stores.
 */
function elsewhereNotice(
  { former, why }: { readonly former: StoredConfig; readonly why: string },
  { source, departures }: Pick<ConfigStore, "source" | "departures">,
  runs: () => Pick<BridgeConfig, "stores">,
  { clock, logger }: Pick<Seams, "clock" | "logger">,
): DepartureNotice {
  const { version, revision, places = {} } = former;
  const told = `messages may wait in stores of version ${version}, and nobody delivers them: ${why}, and restart; or, if another process on ${source} ran it, start that one, which runs version ${version} first; to give up what waits there, remove the .leaving file beside ${source} that has this version`;
  logger.error("messages may be left behind: the former configuration is not run here", {
    config_version: version,
    error: why,
  });
  const isThere = async (signal: AbortSignal): Promise<boolean> => {
    for await (const found of departures?.find(signal) ?? [])
      if (found.revision === revision && samePlaces(places, found.places)) return true;
    return false;
  };
  const look: Look = async (signal) => {
    if (!(await isThere(signal))) return OVER;
    if (elsewhereNow(places, runs().stores).length === 0) return {};
    return (await departures?.elsewhere?.(former, signal)) === true ? {} : { told };
  };
  return new DepartureNotice(told, look, clock);
}

function unreadBy(error: string): string {
  return `whether the process before was leaving stores that are not empty is not known, and what is stored runs: ${error}`;
}
