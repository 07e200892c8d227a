import type { StorePlaces } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import { samePlace } from "../same-place.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";
import { placesOf } from "./store-places.ts";
import type { Stranded } from "./stranding.ts";

/** What a version may have left in its stores, while another one runs. */
export interface LeftBehind {
  readonly version: number;
  readonly leftStores: readonly Stranded["store"][];
  /** All that it names. Absent: its document cannot be read. */
  readonly stores?: NamedStores | undefined;
  /** Where they were when it ran, which counts. Absent: where its document has them. */
  readonly places?: StorePlaces | undefined;
  /** Why it cannot run again as it is, by what it refers to now. Absent: nothing is known against it. */
  readonly unusable?: string | undefined;
  /** Why the start could not run it, which nobody finds out again before the next one. Absent: it did not try. */
  readonly failed?: string | undefined;
  /** Whether somebody has changed its document since it was kept. */
  readonly changed?: true | undefined;
  /** Where its document is kept, for people. Absent: among the former versions. */
  readonly where?: string | undefined;
  /**
   * `false`: its document is not kept among the former versions yet, so that nobody can begin with it. Default: it is.
   */
  readonly isKept?: false | undefined;
}

/** Which of its stores nobody delivers or sees yet when `config` runs. */
export function stillLeft(
  { leftStores, stores, places = {} }: Pick<LeftBehind, "leftStores" | "stores" | "places">,
  config: Pick<BridgeConfig, "stores">,
): readonly Stranded["store"][] {
  const here = placesOf(config.stores);
  const runs = (role: Stranded["store"]): boolean => {
    if (places[role] !== undefined) return places[role] === here[role];
    const left = stores?.[role];
    return left !== undefined && samePlace(left, config.stores[role]);
  };
  return LEFT_ROLES.filter((role) => leftStores.includes(role) && !runs(role));
}

/** As they are found by their versions: the newest first, and of one version the first of the names. */
export function inOrder(left: readonly LeftBehind[]): readonly LeftBehind[] {
  const name = ({ where }: LeftBehind): string => where ?? "";
  return left.toSorted((a, b) => b.version - a.version || (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0));
}

/** In a word, for the log. */
export function namesOf(left: readonly LeftBehind[]): string {
  return left.map(({ version, leftStores }) => `${version} (${leftStores.join(", ")})`).join(", ");
}

/** Of so many versions it is told what each has left. */
const TOLD = 20;

/** All that was left behind, in order, and how to get at it; `runs`: which version runs, as far as it is known. */
export function leftBehindBy(left: readonly LeftBehind[], runs: number | undefined): string | undefined {
  const [newest, ...others] = left;
  if (newest === undefined) return undefined;
  const { version, leftStores, failed, unusable = failed, changed, where, isKept } = newest;
  const stores = leftStores.map((role) => `stores.${role}`);
  const mend = unusable === undefined ? "" : `; it cannot run again as it is (${unusable}): mend that`;
  const look = changed === undefined ? "" : "; its document was changed after it was kept: see that it is whole first";
  const wait = isKept === false ? `; ${NOT_KEPT}` : "";
  const kept = where === undefined ? "" : `, kept as ${where}`;
  const flags = stores.map((store) => `${store}.abandon_backlog: true`).join(" and ");
  const told = others.slice(0, TOLD - 1);
  const older = others.slice(told.length);
  const more = [
    ...told.map((other, at) => `version ${alsoLeft(other, left[at]?.version === other.version)}`),
    ...(older.length === 0 ? [] : [olderOnes(older)]),
  ];
  return [
    `version ${version} has ${stores.join(" and ")} at another place than ${whatRuns(version, runs)}, and ended with its process: what waits there nobody delivers or sees${mend}${look}${wait}`,
    `commit version ${version} again (from_version: ${version}${kept}), let it be delivered, and go back then`,
    `to leave something there, go back with a change that brings ${flags}`,
    ...(where === undefined ? [] : [`to give up what is there without that, remove ${where} and reload`]),
    ...(more.length === 0 ? [] : [`the same is true of ${more.join(", ")}`]),
  ].join("; ");
}

const NOT_KEPT =
  "its document is not kept yet, and until it is from_version answers 404: the log says what is in the way, and a restart tries again";

function whatRuns(version: number, runs: number | undefined): string {
  if (runs === undefined) return "what runs";
  return runs === version ? `what runs, another document of version ${runs}` : `what runs, version ${runs}`;
}

/** @param isNext whether the one before it has its number, and is found by that first */
function alsoLeft(
  { version, leftStores, failed, unusable = failed, changed, where, isKept }: LeftBehind,
  isNext: boolean,
): string {
  const said = [
    leftStores.map((role) => `stores.${role}`).join(" and "),
    ...(where === undefined ? [] : [`kept as ${where}`]),
    ...(isKept === false ? ["which is not kept yet"] : []),
    ...(isNext ? ["which that number finds when nothing is left of the one before"] : []),
    ...(unusable === undefined ? [] : [`which cannot run again as it is: ${unusable}`]),
    ...(changed === undefined ? [] : ["which was changed after it was kept"]),
  ];
  return `${version} (${said.join(", ")})`;
}

function olderOnes(older: readonly LeftBehind[]): string {
  const isKept = older.every(({ where }) => where !== undefined);
  return `${older.length} older ones, versions ${older.at(-1)?.version} to ${older[0]?.version}${isKept ? ", kept in the same folder" : ""}`;
}
