import type { ConfigStore } from "@bridge/ports";
import type { Excuses } from "../case.ts";
import type { ConfigStoreCaseName } from "./config-store-cases.ts";

export type ConfigDocument = Readonly<Record<string, unknown>>;

/** A configuration store that the suite is to try. */
export interface ConfigStoreSubject {
  /** What the store need not do, and why. */
  readonly except?: Excuses<ConfigStoreCaseName>;
  /** A place that no other case uses, holding `document`, or nothing. The case disposes it. */
  open(document: ConfigDocument | undefined): Promise<ConfigPlace>;
  /** The same, but it cannot be written to. Without this the case of read-only documents has to be excused. */
  openReadOnly?(document: ConfigDocument): Promise<ConfigPlace>;
}

/** Where one document is kept. Disposing it closes every store on it. */
export interface ConfigPlace extends AsyncDisposable {
  readonly store: ConfigStore;
  /** Another store on the same document, as another process would have it. */
  second(): Promise<ConfigStore>;
  /** What is stored, to the byte; `undefined` when nothing is. */
  content(): Promise<string | undefined>;
  /** What somebody does who knows nothing of stores: writes another document, its `config_version` as it stands there. */
  replace(document: ConfigDocument): Promise<void>;
  /** The same hand takes the document away. */
  remove(): Promise<void>;
  /** The same hand leaves behind something that is no document, and in which `secret` stands. */
  damage(secret: string): Promise<void>;
  /** Ends `store` as abruptly as it can be done, and opens what is left. Without this what survives has to be excused. */
  reopen?(): Promise<ConfigStore>;
  /** Another process, which has remembered what is stored and goes on. Without this `departures` have no `elsewhere`. */
  leaver?(): Promise<ConfigLeaver>;
}

/** A process that leaves the stores of what it has remembered. */
export interface ConfigLeaver {
  /** Nothing waits there any more: it forgets that, and lives on. */
  forget(): Promise<void>;
  kill(): Promise<void>;
}
