import { Veil } from "@bridge/config";

/** Configurations whose parts may still say something: the one in force, the next, and those that have just ended. */
const KEPT = 4;

/** What came in through the references of the configurations of late, to be taken out of whatever is told. */
export class Veils {
  #lists: readonly (readonly string[])[] = [];
  #veil: Veil | undefined;

  /** That of a configuration (`BridgeConfig.veils`), before anything is built of it. */
  remember(values: readonly string[] = []): void {
    if (values.length === 0) return;
    this.#lists = [...this.#lists.filter((list) => list !== values), values].slice(-KEPT);
    this.#veil = new Veil(this.#lists.flat());
  }

  /** Takes it out of a text; absent while there is nothing to take out. */
  get veil(): ((text: string) => string) | undefined {
    return this.#veil === undefined ? undefined : this.over;
  }

  /** The same, also while there is nothing. */
  readonly over = (text: string): string => this.#veil?.over(text) ?? text;
}
