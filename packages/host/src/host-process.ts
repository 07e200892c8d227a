/** What the host needs of its process: the platform's own, or a stand-in. */
export type HostProcess = Pick<NodeJS.Process, "argv" | "env" | "stdin" | "stdout" | "stderr" | "on" | "off" | "exit">;
