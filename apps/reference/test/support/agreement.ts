import { Ajv } from "ajv";
import { configJsonSchema, createRegistry, formatProblem, validateConfig } from "@bridge/config";
import { plugins } from "../../src/compose.ts";
import { BEYOND_SHAPE } from "./beyond-shape.ts";

const registry = createRegistry(plugins());
const fits = new Ajv({ strictSchema: true, strictTypes: false, validateFormats: false }).compile(
  configJsonSchema(registry),
);

/** The schema and the binary, side by side, over many documents. */
export class Agreement {
  /** The reasons for which the schema took what the binary refuses. */
  readonly excused = new Set<string>();
  /** How many documents were refused, and how many taken, by the binary. */
  readonly counts = { refused: 0, taken: 0 };

  /** What the one says of a document that the other does not; `undefined` when they agree, or the schema cannot know. */
  difference(document: unknown): string | undefined {
    const objections = this.objections(document);
    const fitting = objections.length === 0;
    const checked = validateConfig(document, registry);
    if (checked.ok) {
      this.counts.taken++;
      return fitting ? undefined : `taken, but the schema says: ${JSON.stringify(objections)}`;
    }
    this.counts.refused++;
    if (!fitting) return undefined;
    const untold = checked.problems.map(formatProblem).filter((problem) => !this.#excuses(problem));
    return untold.length === 0 ? undefined : `the schema does not say: ${untold.join("; ")}`;
  }

  /** What the schema alone says against a document. */
  objections(document: unknown): readonly unknown[] {
    return fits(document) ? [] : (fits.errors ?? []);
  }

  #excuses(problem: string): boolean {
    const found = BEYOND_SHAPE.find(([, words]) => words.test(problem));
    if (found !== undefined) this.excused.add(found[0]);
    return found !== undefined;
  }
}
