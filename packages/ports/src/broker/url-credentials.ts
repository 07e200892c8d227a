/** Who an address says one is, taken out of it. */
export interface SplitUrl {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

const WITH_USER = /^(\s*[A-Za-z][A-Za-z0-9+.-]*:\/\/)([^/?#@]*(?:@[^/?#@]*)*)@(.*)$/s;

/**
 * Takes the user and the password out of the address of a server, as programs often have it from their environment. An address
 * without them, and one in which they are not percent-encoded as they should be, stays as it is.
 */
export function splitUrl(url: string): SplitUrl {
  const [, scheme = "", user = "", rest = ""] = WITH_USER.exec(url) ?? [];
  if (scheme === "") return { url };
  const end = user.indexOf(":");
  const [name, password] = end === -1 ? [user, ""] : [user.slice(0, end), user.slice(end + 1)];
  try {
    return {
      url: `${scheme}${rest}`,
      ...(name !== "" && { username: decodeURIComponent(name) }),
      ...(password !== "" && { password: decodeURIComponent(password) }),
    };
  } catch {
    return { url };
  }
}

/** The same for the addresses of one server or cluster, which cannot name different users. */
export function splitUrls(urls: readonly string[]): Omit<SplitUrl, "url"> & { readonly urls: readonly string[] } {
  // What is no list of texts is for the schema to refuse.
  if (!Array.isArray(urls)) return { urls };
  const split = urls.map(splitUrl);
  const users = new Set(split.map(({ username, password }) => JSON.stringify([username, password])));
  const [first] = split;
  if (first === undefined || users.size > 1) return { urls };
  const { url: _, ...user } = first;
  return { ...user, urls: split.map(({ url }) => url) };
}
