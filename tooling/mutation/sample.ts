import { createHash } from "node:crypto";
import { sep } from "node:path";

interface Plan {
  readonly plan: string;
  readonly mutant: { readonly fileName: string; readonly location: unknown; readonly replacement?: string | undefined };
}

interface SampleOptions {
  /** So many mutants of each folder. */
  readonly size: number;
  readonly seed: string;
  /** Whole paths, of folders or files. */
  readonly folders: readonly string[];
}

/** How many mutants each folder has, of which the sample is a part. */
export const drawnFrom = new Map<string, number>();
let wanted: SampleOptions | undefined;

/** From now on, runs in this process test only a sample: the same one for the same seed and code. */
export function drawSamples(options: SampleOptions): void {
  wanted = options;
}

/** Where the sampled score of the whole folder lies, 95 times in 100 (Wilson), in percent. */
export function likelyScore(noticed: number, tested: number): readonly [number, number] {
  if (tested === 0) return [0, 100];
  const z = 1.96;
  const share = noticed / tested;
  const middle = share + z ** 2 / (2 * tested);
  const spread = z * Math.sqrt((share * (1 - share)) / tested + z ** 2 / (4 * tested ** 2));
  const scale = 100 / (1 + z ** 2 / tested);
  return [(middle - spread) * scale, (middle + spread) * scale];
}

function rankOf(seed: string, { mutant }: Plan): string {
  const { fileName, location, replacement } = mutant;
  return createHash("sha256")
    .update(JSON.stringify([seed, fileName.slice(fileName.lastIndexOf("packages")), location, replacement]))
    .digest("hex");
}

/** Stryker knows no samples, but runs what is left in the list that it shows to its reporters. */
class Sampler {
  onMutationTestingPlanReady({ mutantPlans }: { readonly mutantPlans: Plan[] }): void {
    if (wanted === undefined) return;
    const { size, seed, folders } = wanted;
    const runs = mutantPlans.filter(({ plan }) => plan === "Run");
    const drawn = folders.flatMap((folder) => {
      const inside = runs.filter(
        ({ mutant: { fileName } }) => fileName === folder || fileName.startsWith(folder + sep),
      );
      drawnFrom.set(folder, inside.length);
      const ranked = inside.map((plan) => ({ plan, rank: rankOf(seed, plan) }));
      return ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, size);
    });
    mutantPlans.splice(0, mutantPlans.length, ...drawn.map(({ plan }) => plan));
  }
}

/** A plugin for Stryker. */
export const strykerPlugins = [{ kind: "Reporter", name: "sample", injectableClass: Sampler }];
