/** Whether a redirect stays on the website: it may add TLS, and add or remove `www`, but not drop TLS. */
export function isSameSite(from: string, to: string): boolean {
  const [a, b] = [new URL(from), new URL(to)];
  const sameHost = bare(a.hostname) === bare(b.hostname);
  const sameScheme = a.protocol === b.protocol || (a.protocol === "http:" && b.protocol === "https:");
  // The port is empty where it is the scheme's default.
  return sameHost && sameScheme && a.port === b.port;
}

const bare = (host: string): string => host.replace(/^www\./, "");

/** Moves an address of a website to the origin that the website redirects to. */
export function atHome(url: string, home: string): string {
  if (!isSameSite(url, home)) return url;
  const { pathname, search } = new URL(url);
  return new URL(`${pathname}${search}`, home).href;
}
