/**
 * Whether an address that a website's own leads to is the same website: over TLS where it was not, or with `www` or
 * without. Never from TLS back to none.
 */
export function isSameSite(from: string, to: string): boolean {
  const [a, b] = [new URL(from), new URL(to)];
  const sameHost = bare(a.hostname) === bare(b.hostname);
  const sameScheme = a.protocol === b.protocol || (a.protocol === "http:" && b.protocol === "https:");
  // Empty where it is the scheme's own.
  return sameHost && sameScheme && a.port === b.port;
}

const bare = (host: string): string => host.replace(/^www\./, "");

/** An address of a website, at the address that the website has moved to. */
export function atHome(url: string, home: string): string {
  if (!isSameSite(url, home)) return url;
  const { pathname, search } = new URL(url);
  return new URL(`${pathname}${search}`, home).href;
}
