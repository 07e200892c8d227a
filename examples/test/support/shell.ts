import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CURL = fileURLToPath(new URL("curl.ts", import.meta.url));

/** What commands typed into a shell print; one where there is no curl gets a stand-in. */
export async function typed(commands: string): Promise<string> {
  const shell = `command -v curl >/dev/null || curl() { "${process.execPath}" "${CURL}" "$@"; }\n${commands}`;
  return (await promisify(execFile)("sh", ["-c", shell])).stdout;
}

/** The commands below a heading. */
export function below(heading: string, printed: string): string {
  return printed.slice(printed.indexOf(heading)).split("\n\n")[0]?.split("\n").slice(1).join("\n") ?? "";
}
