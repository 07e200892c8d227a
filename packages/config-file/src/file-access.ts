import type { StorePlaces } from "@bridge/ports";
import type { Content, StoredContent } from "./content.ts";

/** What the parts of a store on a file need of it. */
export interface FileAccess {
  /** For people. */
  readonly source: string;
  /** The file that is meant, behind all links; where it would be when it is not there. */
  place(): Promise<string>;
  /** Does it while no other writer is at work; `ifGone` stands in when there is no file. */
  alone<T, U>(signal: AbortSignal, work: (target: string) => Promise<T>, ifGone: () => U): Promise<T | U>;
  /** To be used as `ifGone` of what makes no sense without a file. @throws Error */
  nowhere(): never;
  /** What the file holds now. */
  read(signal: AbortSignal): Promise<Content>;
  /** What was loaded, written or told as `stored`. @throws TypeError for what was not */
  contentOf(stored: object): StoredContent;
  /**
   * A document of former times, which can be restored from then on.
   * @param places what was noted of where its stores were
   * @throws Error that says of `what` that it is no document
   */
  former(bytes: Uint8Array, what: string, signal: AbortSignal, places?: StorePlaces): Promise<StoredContent>;
}
