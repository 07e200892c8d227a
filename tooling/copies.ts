/**
 * For `node --import`: `import("@bridge/core?a")` gives a copy `a` of a package, with copies of all that it imports, as a process has that
 * loads a package twice. @module
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    const [, plain = specifier, own] = /^(@bridge\/[^?]+)\?(\w+)$/.exec(specifier) ?? [];
    const resolved = next(plain, context);
    const copy = own ?? new URL(context.parentURL ?? "file:///").searchParams.get("copy");
    const isOurs = resolved.url.includes("/packages/") && !resolved.url.includes("/node_modules/");
    return copy !== null && isOurs ? { ...resolved, url: `${resolved.url}?copy=${copy}` } : resolved;
  },
});
