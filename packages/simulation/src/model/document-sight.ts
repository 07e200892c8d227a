import type { StagedConfig } from "@bridge/ports";

/** What one watch has told, or is not to tell, as a name. */
export interface Watched {
  seen: string | undefined;
}

/** What one store has seen of its document. */
export class DocumentSight {
  /** What it has last loaded, written or told, as a name. */
  seen: string | undefined;
  staged: StagedConfig | undefined;
  readonly watches = new Set<Watched>();
  #underWay = 0;
  #begun = 0;

  /**
   * How often it has begun to write; `undefined` while it writes. Reads and writes take turns: a read that overlaps a
   * write may be outdated.
   */
  get turn(): number | undefined {
    return this.#underWay === 0 ? this.#begun : undefined;
  }

  /** Writes what the watches of this store are not to tell: `revisionOf` names it, if it is there. */
  async writing<Answer>(
    work: () => Promise<Answer>,
    revisionOf: (answer: Answer) => string | undefined,
  ): Promise<Answer> {
    this.#begun++;
    this.#underWay++;
    try {
      const answer = await work();
      const own = revisionOf(answer);
      if (own !== undefined) {
        this.seen = own;
        for (const watched of this.watches) watched.seen = own;
      }
      return answer;
    } finally {
      this.#underWay--;
    }
  }
}
