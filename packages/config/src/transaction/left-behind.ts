import { samePlace } from "../same-place.ts";
import type { BridgeConfig } from "../model.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";
import type { Stranded } from "./stranding.ts";

/** What a version may have left in its stores, while another one runs. */
export interface LeftBehind {
  readonly version: number;
  readonly leftStores: readonly Stranded["store"][];
  /** All that it names. Absent: its document cannot be read. */
  readonly stores?: NamedStores | undefined;
  /** Why it cannot run again as it is. Absent: nothing is known against it. */
  readonly unusable?: string | undefined;
  /** Whether somebody has changed its document since it was kept. */
  readonly changed?: true | undefined;
  /** Where its document is kept, for people. Absent: among the former versions. */
  readonly where?: string | undefined;
}

/** Which of its stores nobody delivers or sees yet when `config` runs; `abandoned`: which it may leave as they are. */
export function stillLeft(
  { leftStores, stores }: Pick<LeftBehind, "leftStores" | "stores">,
  config: Pick<BridgeConfig, "stores">,
  abandoned: readonly string[],
): readonly Stranded["store"][] {
  const runs = (role: Stranded["store"]): boolean => {
    const left = stores?.[role];
    return left !== undefined && samePlace(left, config.stores[role]);
  };
  return LEFT_ROLES.filter((role) => leftStores.includes(role) && !abandoned.includes(role) && !runs(role));
}

/** Of so many versions it is told what each has left. */
const TOLD = 20;

/** All that was left behind, the newest first, and how to get at it; `runs`: which version runs, as far as it is known. */
export function leftBehindBy([newest, ...others]: readonly LeftBehind[], runs: number | undefined): string | undefined {
  if (newest === undefined) return undefined;
  const { version, leftStores, unusable, changed, where } = newest;
  const stores = leftStores.map((role) => `stores.${role}`);
  const now = runs === undefined ? "what runs" : `what runs, version ${runs}`;
  const mend = unusable === undefined ? "" : `; it cannot run again as it is (${unusable}): mend that`;
  const look = changed === undefined ? "" : "; its document was changed after it was kept: see that it is whole first";
  const kept = where === undefined ? "" : `, kept as ${where}`;
  const flags = stores.map((store) => `${store}.abandon_backlog: true`).join(" and ");
  const told = others.slice(0, TOLD - 1);
  const older = others.length - told.length;
  const more = told.map((other) => `version ${alsoLeft(other)}`).concat(older === 0 ? [] : `${older} older ones`);
  return [
    `version ${version} has ${stores.join(" and ")} at another place than ${now}, and ended with its process: what waits there nobody delivers or sees${mend}${look}`,
    `commit version ${version} again (from_version: ${version}${kept}), let it be delivered, and go back then`,
    `or leave it there, with a change that brings ${flags}`,
    ...(more.length === 0 ? [] : [`the same is true of ${more.join(", ")}`]),
  ].join("; ");
}

function alsoLeft({ version, leftStores, unusable, changed, where }: LeftBehind): string {
  const said = [
    leftStores.map((role) => `stores.${role}`).join(" and "),
    ...(where === undefined ? [] : [`kept as ${where}`]),
    ...(unusable === undefined ? [] : [`which cannot run again as it is: ${unusable}`]),
    ...(changed === undefined ? [] : ["which was changed after it was kept"]),
  ];
  return `${version} (${said.join(", ")})`;
}
