import { fileURLToPath } from "node:url";
import { API, type Diagnostic, type Snapshot } from "typescript/unstable/sync";

const FOLDER = fileURLToPath(new URL("../node_modules/.editor", import.meta.url));
const [PROJECT, SOURCE] = [`${FOLDER}/tsconfig.json`, `${FOLDER}/typed.ts`];
const CONFIG = JSON.stringify({ extends: "../../../tsconfig.base.json", files: ["typed.ts"] });

/** Where the caret stands in a source. */
export const CARET = "‸";

/** An editor with one source, which may import what the examples may. Nothing of it is on the disk. */
export class Editor implements Disposable {
  #source = "";
  readonly #compiler = new API({
    fs: {
      readFile: (path) => this.#file(path),
      fileExists: (path) => (this.#file(path) === undefined ? undefined : true),
      directoryExists: (path) => (path === FOLDER ? true : undefined),
    },
  });

  /** The names that are offered at the caret. */
  completions(source: string): readonly string[] {
    using snapshot = this.#snapshot(source.replace(CARET, ""));
    const checker = snapshot.getProject(PROJECT)?.checker;
    const offered = checker?.getCompletionsAtPosition(SOURCE, source.indexOf(CARET));
    return offered?.entries.map(({ name }) => name.replace(/\?$/, "")) ?? [];
  }

  /** What the compiler says of it, each line behind the one that it explains. */
  problems(source: string): readonly string[] {
    using snapshot = this.#snapshot(source);
    const found = snapshot.getProject(PROJECT)?.program.getSemanticDiagnostics(SOURCE) ?? [];
    return found.flatMap(linesOf);
  }

  [Symbol.dispose](): void {
    this.#compiler.close();
  }

  #snapshot(source: string): Snapshot {
    this.#source = source;
    return this.#compiler.updateSnapshot({ openProjects: [PROJECT], fileChanges: { changed: [SOURCE] } });
  }

  #file(path: string): string | undefined {
    if (path === SOURCE) return this.#source;
    return path === PROJECT ? CONFIG : undefined;
  }
}

function linesOf({ text, messageChain = [] }: Diagnostic): readonly string[] {
  return [text, ...messageChain.flatMap(linesOf)];
}
