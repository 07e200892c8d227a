import type { Rule } from "./rule-context.ts";

/** A certificate and its key come together. */
export const tlsFiles: Rule = (context) => {
  const { tls_cert_file: cert, tls_key_file: key } = context.draft.http ?? {};
  if (cert === undefined || key === undefined || (cert === "") === (key === "")) return;
  const missing = cert === "" ? "tls_cert_file" : "tls_key_file";
  const given = cert === "" ? "tls_key_file" : "tls_cert_file";
  context.report.problem(["http", missing], `is required because ${given} is given: name both files or none`);
};
